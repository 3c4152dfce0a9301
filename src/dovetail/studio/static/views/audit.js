// Audit: choose a network, cut it into clusters beside shuffled copies of itself, and watch the null fill up.

import { get } from "../js/api.js";
import { clear, emptyState, h, notice } from "../js/elements.js";
import { jobPanel } from "../js/job.js";
import { placeOf, setParameters } from "../js/place.js";
import { auditForm } from "./audit-form.js";
import { auditOutcome } from "./audit-outcome.js";

const INTRO =
  "How well do a network's units fall into clusters, and would chance do as well? The network is cut into clusters, " +
  "and so are copies of it whose weights are shuffled within each layer: they are the null.";

const GONE = "That audit is no longer kept. Start it again, or look in Runs for saved ones.";

export const view = {
  title: "Audit",
  async show(element, parameters) {
    const [offer, jobs] = await Promise.all([get("/api/audit"), get("/api/jobs")]);
    const audits = jobs.filter((job) => job.kind === "audit");
    const outcome = h("section", { class: "audit-outcome", "aria-label": "Outcome" });
    const earlier = h("nav", { "aria-label": "Audits of this session" });

    function follow(job) {
      const list = () => listJobs(earlier, audits, job.id);
      list();
      let isFilled = false; // once: from then on the form is the reader's
      showJob(outcome, job, (now) => {
        const { output, ...asked } = (now.result ?? now.partial)?.asked ?? {};
        if (asked.file && !isFilled) form.fill(asked); // not where it is saved: a second one would write over the first
        isFilled ||= Boolean(asked.file);
        job.state = now.state;
        if (now.state !== "running") list();
      });
    }

    const started = (job) => {
      audits.unshift(job);
      setParameters("audit", { job: job.id });
      follow(job);
    };
    const form = auditForm(offer, parameters.file, started);
    const demo = h("a", { href: "#/bench" }, "Train the demo's parts");
    clear(
      element,
      h("h1", {}, "Audit"),
      h("p", {}, INTRO),
      offer.files.length || audits.length || parameters.saved
        ? h("div", { class: "audit-columns" }, h("div", {}, form.element, earlier), outcome)
        : emptyState("There is no file of weights in this folder.", demo),
    );
    if (parameters.saved) {
      const shown = await showSaved(outcome, parameters.saved);
      if (shown) form.fill({ ...shown.settings, file: shown.file, shuffles: shown.copies });
      return;
    }
    const shown = parameters.job ? audits.find((job) => job.id === parameters.job) : !parameters.file && audits[0];
    if (shown) follow(shown);
    else if (parameters.job) clear(outcome, notice(GONE));
    if (!shown) listJobs(earlier, audits);
  },
};

// Shows a job from where it is now to its end.
function showJob(box, job, onChange) {
  const found = auditOutcome();
  const panel = jobPanel(job, {
    onChange: (now) => {
      found.show(now);
      onChange(now);
    },
  });
  clear(box, panel, found.element);
}

async function showSaved(box, folder) {
  const found = auditOutcome();
  try {
    const shown = await get("/api/audit/saved", { folder });
    clear(box, h("h2", {}, `Saved in ${folder}`), found.element);
    found.showWhole(shown);
    return shown;
  } catch (error) {
    clear(box, notice(error.message, "error"));
    return null;
  }
}

function listJobs(box, audits, current) {
  if (!audits.length) return;
  const mark = (job) => (job.id === current ? "true" : null);
  const entry = (job) =>
    h(
      "li",
      {},
      h("a", { href: placeOf("audit", { job: job.id }), "aria-current": mark(job) }, job.title),
      h("span", { class: "quiet" }, ` ${new Date(job.started * 1000).toLocaleTimeString()}, ${job.state}`),
    );
  clear(box, h("h2", {}, "Audits of this session"), h("ul", { class: "audit-list" }, audits.map(entry)));
}
