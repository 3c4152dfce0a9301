// Audit: choose a network, cut it into clusters beside shuffled copies of itself, and watch the null fill up.

import { get } from "../js/api.js";
import { clear, emptyState, h, notice } from "../js/elements.js";
import { jobPanel } from "../js/job.js";
import { choose } from "../js/place.js";
import { onFolderChange } from "../js/pulse.js";
import { showCompared } from "./audit-compare.js";
import { auditForm } from "./audit-form.js";
import { auditList } from "./audit-list.js";
import { auditOutcome } from "./audit-outcome.js";

const INTRO =
  "How well do a network's units fall into clusters, and would chance do as well? The network is cut into clusters, " +
  "and so are copies of it whose weights are shuffled within each layer: they are the null.";

const GONE = "That audit is no longer kept. Start it again, or look at one that is saved.";

export const view = {
  title: "Audit",
  watches: true,
  async show(element, parameters) {
    const [offer, jobs] = await Promise.all([get("/api/audit"), get("/api/jobs")]);
    const audits = jobs.filter((job) => job.kind === "audit");
    const outcome = h("section", { class: "audit-outcome", "aria-label": "Outcome" });
    const list = auditList({ ...parameters });
    let saved = offer.saved;
    const showList = (now) => list.show(audits, saved, now);

    function follow(job) {
      showList({ job: job.id, saved: undefined, compare: undefined });
      let isFilled = false; // once: from then on the form is the reader's
      showJob(outcome, job, (now) => {
        const { output, ...asked } = (now.result ?? now.partial)?.asked ?? {};
        if (asked.file && !isFilled) form.fill(asked); // not where it is saved: a second one would write over the first
        isFilled ||= Boolean(asked.file);
        job.state = now.state;
        if (now.state !== "running") showList();
      });
    }

    const started = (job) => {
      audits.unshift(job);
      choose("audit", { job: job.id });
      follow(job);
    };
    const form = auditForm(offer, parameters.file, started);
    const demo = h("a", { href: "#/bench" }, "Train the demo's parts");
    const empty = emptyState("There is no file of weights in this folder.", demo);
    const columns = h("div", { class: "audit-columns" }, h("div", {}, form.element, list.element), outcome);
    const setEmpty = ({ files }) => {
      empty.hidden = files.length > 0 || audits.length > 0 || saved.length > 0 || Boolean(parameters.saved);
      columns.hidden = !empty.hidden;
    };
    setEmpty(offer);
    clear(element, h("h1", {}, "Audit"), h("p", {}, INTRO), empty, columns);
    showList();

    const shown = parameters.job ? audits.find((job) => job.id === parameters.job) : audits[0];
    if (parameters.compare) {
      await showCompared(outcome, parameters.compare);
    } else if (parameters.saved) {
      const found = await showSaved(outcome, parameters.saved);
      if (found) form.fill({ ...found.settings, file: found.file, shuffles: found.copies });
    } else if (shown && !parameters.file) {
      follow(shown);
    } else if (parameters.job) {
      clear(outcome, notice(GONE));
    }
    return onFolderChange(["weights", "audits"], async () => {
      const now = await get("/api/audit").catch(() => null);
      if (!now) return; // the frame says so
      form.setFiles(now);
      saved = now.saved;
      setEmpty(now);
      showList();
    });
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
