// What an audit found, while it grows and when it is whole.

import { chartPlace } from "../js/chart.js";
import { clear, copyBlock, h, notice, numberText } from "../js/elements.js";
import { dataTable } from "../js/table.js";

const KEPT = 10_000; // milliseconds that a file to download is held

export function auditOutcome() {
  const state = h("div", { "aria-live": "polite" });
  const numbers = h("dl", { class: "audit-numbers" });
  const nullChart = chartPlace("The n-cuts of shuffled copies as a histogram, and the network's own");
  const rest = h("div", {});
  const element = h("div", {}, state, numbers, nullChart.element, rest);
  let ended = false;

  function showNull(part) {
    showNumbers(numbers, part);
    nullChart.draw(part.null);
  }

  // What there is when all copies are done.
  function showWhole(shown, audit, about) {
    showNull(shown);
    clear(state, shown.verdict.split("\n").map((line) => h("p", {}, line)));
    const composition = chartPlace("Units of each layer in each cluster");
    clear(
      rest,
      shown.doubts.map((doubt) => notice(`Doubtful: ${doubt}.`)),
      h("h2", {}, "Clusters by layer"),
      composition.element,
      sizeTable(shown),
      h("p", { class: "quiet" }, remarks(shown)),
      about && copyBlock("The same on the command line", about.command),
      audit && h("div", { class: "row" }, download(audit), about.asked.output ? savedIn(about.asked.output) : null),
    );
    composition.draw(shown.composition);
  }

  // A job as it stands now.
  function show(job) {
    if (ended) return;
    ended = job.state !== "running";
    if (job.result) return showWhole(job.result.shown, job.result.audit, job.result);
    const part = job.partial?.null ? job.partial : null;
    if (part) showNull(part);
    if (!ended) return;
    const output = job.state === "cancelled" && job.partial?.asked.output;
    clear(state, part && notice(incomplete(part)), output && notice(`Nothing was saved into ${output}.`));
  }

  return { element, show, showWhole };
}

const incomplete = ({ copies, wanted }) =>
  `Incomplete: ${numberText(copies)} of ${numberText(wanted)} shuffled copies were done before it ended. What is shown rests on these alone.`;

function showNumbers(list, { numbers, copies, wanted }) {
  const spread = numbers.mean === null ? "–" : `${numberText(numbers.mean)} ± ${numberText(numbers.std)}`;
  const entries = [
    ["n-cut", "ncut", numberText(numbers.ncut)],
    ["null, mean ± sd", "null", spread],
    ["p-value", "p", numbers.p_value === null ? "–" : String(Number(numbers.p_value.toPrecision(3)))],
    ["z-score", "z", numberText(numbers.z_score, 2)],
    ["shuffled copies", "copies", copies === wanted ? numberText(copies) : `${numberText(copies)} of ${numberText(wanted)}`],
  ];
  clear(
    list,
    entries.map(([name, key, text]) => h("div", {}, h("dt", {}, name), h("dd", { dataset: { number: key } }, text))),
  );
}

// Side by side, as there may be many.
function sizeTable({ sizes }) {
  const columns = ["cluster", ...sizes.map((_, cluster) => ({ title: String(cluster), number: true }))];
  return dataTable(columns, [["units", ...sizes]], "Units of each cluster");
}

function remarks({ components, stability, layers }) {
  const parts = components === 1 ? "1 connected component" : `${components} connected components`;
  const [low, high] = [Math.min(...stability.ncuts), Math.max(...stability.ncuts)];
  const range = `n-cut ${low.toFixed(3)} to ${high.toFixed(3)}`;
  const agreement = `agreement ${numberText(stability.agreement, 2)} (1: the same clusters)`;
  const seeds = stability.ncuts.length ? ` With other seeds ${range}, ${agreement}.` : "";
  return `${parts}.${seeds} ${layers ?? ""}`;
}

// The file is made when it is wanted, and let go when the browser has had the time to take it.
function download(audit) {
  const link = h("a", { href: "#", download: "audit.json" }, "Download as JSON");
  link.addEventListener("click", () => {
    link.href = URL.createObjectURL(new Blob([JSON.stringify(audit, null, 2)], { type: "application/json" }));
    setTimeout(URL.revokeObjectURL, KEPT, link.href);
  });
  return link;
}

const savedIn = (folder) => h("span", { class: "quiet" }, `Saved in ${folder}.`);
