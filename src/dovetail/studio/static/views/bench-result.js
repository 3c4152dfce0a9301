// The composite of what is ticked, or one that was saved: what it knows, and how well.

import { post } from "../js/api.js";
import { drawChart } from "../js/chart.js";
import { clear, copyBlock, dataTable, h, notice, numberText } from "../js/elements.js";
import { changeText } from "./bench-change.js";
import { percent } from "./bench-group.js";
import { saveForm } from "./bench-save.js";

const NARROW = 480;

const count = (number) => number.toLocaleString("en");

function headline(found) {
  const entropy = `Entropy on other classes ${numberText(found.entropy, 3)} of at most ${numberText(found.most_entropy, 3)}.`;
  const samples = found.samples < found.total ? `${count(found.samples)} so far of ${count(found.total)}` : count(found.total);
  return [
    h("p", { class: "bench-accuracy" }, h("strong", {}, percent(found.accuracy)), " right on the classes it knows"),
    h(
      "p",
      { class: "quiet" },
      found.entropy === null ? "It knows all classes." : entropy,
      ` Calibration error ${numberText(found.calibration_error, 3)}. On ${samples} test samples of ${found.data}.`,
    ),
  ];
}

function classList(found) {
  const known = new Set(found.knows);
  return h(
    "ul",
    { class: "bench-classes", "aria-label": "Classes it knows" },
    found.classes.filter((name) => known.has(name)).map((name) => h("li", {}, name)),
  );
}

function classTable(found) {
  const rows = found.classes.map((name, n) => [
    name,
    found.knows.includes(name) ? "yes" : "no",
    percent(found.class_accuracy[n]),
    numberText(found.class_entropy[n], 3),
  ]);
  const columns = ["class", "known", { title: "accuracy", number: true }, { title: "entropy", number: true }];
  return h("details", {}, h("summary", {}, "By class, in numbers"), dataTable(columns, rows, "On the test split"));
}

// Follows `state`: call `show` when it has changed. Without a group there are only saved composites to look at.
export function resultPanel(group, state, { onChange, onSaved }) {
  const methods = group?.methods ?? [];
  let turn = 0;
  let before = null; // what was shown last, to say what has changed
  const about = h("span", { class: "quiet" });
  const method = h(
    "select",
    {
      onchange() {
        state.method = method.value;
        state.look = null;
        onChange();
        show();
      },
    },
    methods.map(({ name }) => h("option", { value: name, selected: name === state.method }, name)),
  );
  const title = h("h2", {});
  const summary = h("div", { "aria-live": "polite" });
  const parts = h("div", {}); // classes, charts, code: made once for a composite, changed while it is measured
  const element = h(
    "section",
    { class: "card bench-result", "aria-label": "Composite" },
    h("div", { class: "row", hidden: !group }, h("label", {}, "Method ", method), about),
    title,
    summary,
    parts,
  );
  const confusion = h("div", { class: "bench-chart" });
  const bars = h("div", { class: "bench-chart" });

  function showParts(found) {
    const files = [...state.ticked];
    clear(
      parts,
      classList(found),
      found.note && notice(found.note),
      found.confusion && [
        h("h3", {}, "What it takes for what"),
        confusion,
        h("h3", {}, "By class"),
        bars,
        classTable(found),
      ],
      !state.look && saveForm(found, { files, method: state.method }, onSaved),
      h("h3", {}, "The same without the studio"),
      copyBlock("Python", found.python),
      copyBlock("Command line", found.command),
    );
    drawCharts(found);
  }

  function drawCharts(found) {
    if (!found.confusion) return;
    found.confusion.data[0].showscale = confusion.clientWidth > NARROW; // on a phone the numbers need the room
    drawChart(confusion, found.confusion);
    drawChart(bars, found.per_class);
  }

  function showMeasured(found, isFirst) {
    const change = isFirst && before ? changeText(before, found) : null;
    const line = change ?? summary.querySelector(".bench-change")?.textContent;
    clear(
      summary,
      found.accuracy === null ? null : headline(found),
      line && h("p", { class: "bench-change" }, line),
    );
    if (isFirst) showParts(found);
    else drawCharts(found);
    before = found;
  }

  async function show() {
    const mine = ++turn;
    about.textContent = methods.find((one) => one.name === state.method)?.about ?? "";
    title.textContent = state.look ?? (state.ticked.size ? `Composite of ${state.ticked.size}` : "Composite");
    if (!state.look && !state.ticked.size) {
      before = null;
      clear(summary, h("p", {}, group ? "Tick specialists to put them together." : "Look at one of the composites."));
      clear(parts);
      return;
    }
    const ask = state.look
      ? () => post("/api/bench/look", { file: state.look })
      : () => post("/api/bench/measure", { files: [...state.ticked], method: state.method });
    element.setAttribute("aria-busy", "true");
    try {
      let found = null;
      while (!found || found.samples < found.total) {
        const isFirst = !found;
        found = await ask();
        if (mine !== turn) return;
        showMeasured(found, isFirst);
      }
    } catch (error) {
      if (mine !== turn) return;
      before = null;
      clear(summary, notice(error.message, "error"));
      clear(parts);
    }
    element.removeAttribute("aria-busy");
  }

  return { element, show, stop: () => (turn += 1) };
}
