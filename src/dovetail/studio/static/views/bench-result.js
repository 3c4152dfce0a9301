// The composite of what is ticked, or one that was saved: what it knows, and how well.

import { post } from "../js/api.js";
import { chartPlace } from "../js/chart.js";
import { clear, copyBlock, countText, h, notice, numberText } from "../js/elements.js";
import { changeText } from "./bench-change.js";
import { measured } from "./bench-compare.js";
import { percent } from "./bench-group.js";
import { inShort, resultLine } from "./bench-line.js";
import { classNumbers, confusionNumbers } from "./bench-numbers.js";
import { methodTable } from "./bench-methods.js";
import { saveForm } from "./bench-save.js";

const NARROW = 480;

function headline(found) {
  const entropy = `Entropy on other classes ${numberText(found.entropy, 3)} of ${numberText(found.most_entropy, 3)}.`;
  const samples = found.samples < found.total ? `${countText(found.samples)} so far of ${countText(found.total)}` : countText(found.total);
  return [
    h("p", { class: "bench-accuracy" }, h("strong", {}, percent(found.accuracy)), " right"),
    h("p", { class: "bench-headline" }, found.headline),
    h(
      "p",
      { class: "quiet" },
      found.entropy !== null && entropy,
      ` Calibration error ${numberText(found.calibration_error, 3)}. On ${samples} test samples of ${found.data}.`,
    ),
  ];
}

const TRY =
  "Try: untick a specialist. Its class is gone at once, and nothing is trained again; tick it, and it is the same composite as before.";

function classList(found) {
  const known = new Set(found.knows);
  return h(
    "ul",
    { class: "bench-classes", "aria-label": "Classes it knows" },
    found.classes.filter((name) => known.has(name)).map((name) => h("li", {}, name)),
  );
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

// Follows `state`: call `show` when it has changed. Without a group there are only saved composites to look at.
export function resultPanel(group, state, { onChange, onSaved, onKeep, onMeasured }) {
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
    methods.map(({ name, title }) => h("option", { value: name, selected: name === state.method }, title)),
  );
  const title = h("h2", { tabindex: "-1" });
  const keep = h("button", { type: "button", class: "small", hidden: true, onclick: () => onKeep(asked()) }, "Keep to compare");
  const summary = h("div", {});
  const said = h("p", { class: "unseen", role: "status" }); // read out once a composite, not with every sample
  const caution = h("div", {});
  const parts = h("div", {}); // classes, charts, code: made once for a composite, changed while it is measured
  const element = h(
    "section",
    { class: "card bench-result", "aria-label": "Composite" },
    h("div", { class: "row", hidden: !group }, h("label", {}, "Method ", method), about),
    h("div", { class: "row" }, title, h("span", { class: "grow" }), keep),
    summary,
    said,
    caution,
    parts,
  );
  const confusion = chartPlace("Confusion matrix; the same in numbers is below");
  const bars = chartPlace("Accuracy by class; the same in numbers is below");
  const tables = { confusion: confusionNumbers(), classes: classNumbers() };
  const line = resultLine(() => {
    title.scrollIntoView();
    title.focus({ preventScroll: true });
  });

  const asked = () => (state.look ? { files: [state.look], method: null } : { files: [...state.ticked], method: state.method });

  const isEverything = () => !state.look && state.ticked.size > 1 && state.ticked.size === group.specialists.length;

  function showParts(found) {
    const files = [...state.ticked];
    clear(
      parts,
      classList(found),
      isEverything() && h("p", { class: "quiet" }, TRY),
      found.note && notice(found.note),
      !state.look && found.accuracy !== null && methods.length > 1 && methodTable(methods, files),
      found.confusion && [
        h("h3", {}, "What it takes for what"),
        confusion.element,
        tables.confusion.element,
        h("h3", {}, "By class"),
        bars.element,
        tables.classes.element,
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
    found.confusion.data[0].showscale = parts.clientWidth > NARROW; // on a phone the numbers need the room
    confusion.draw(found.confusion);
    bars.draw(found.per_class);
    for (const table of Object.values(tables)) table.show(found);
  }

  function showMeasured(found, isFirst) {
    const change = isFirst && before ? changeText(before, found, methods) : null;
    const changed = change ?? summary.querySelector(".bench-change")?.textContent;
    clear(
      summary,
      found.accuracy === null ? null : headline(found),
      changed && h("p", { class: "bench-change" }, changed),
    );
    line.show(inShort(found));
    keep.hidden = found.accuracy === null;
    if (found.samples === found.total) onMeasured(found);
    if (found.samples === found.total) said.textContent = `${inShort(found)}. ${changed ?? ""}`;
    if (isFirst) showParts(found);
    else drawCharts(found);
    before = found;
  }

  // What the library warns of; it may take longer than the measurement.
  async function warn(mine) {
    if (state.look || !group || group.slots || state.ticked.size < 2) return;
    const { warning } = await post("/api/bench/clash", asked()).catch(() => ({ warning: "" }));
    if (mine === turn && warning) clear(caution, notice(sentence(warning)));
  }

  function showNothing(text, short = "") {
    before = null;
    keep.hidden = true;
    onMeasured(null);
    clear(summary, text);
    clear(parts);
    line.show(short);
  }

  async function show() {
    const mine = ++turn;
    method.value = state.method;
    about.textContent = methods.find((one) => one.name === state.method)?.about ?? "";
    title.textContent = state.look ?? (state.ticked.size ? `Composite of ${state.ticked.size}` : "Composite");
    clear(caution);
    if (!state.look && !state.ticked.size) {
      const text = group ? "Tick specialists to put them together." : "Look at one of the composites.";
      said.textContent = "";
      element.removeAttribute("aria-busy");
      showNothing(h("p", {}, text));
      return;
    }
    element.setAttribute("aria-busy", "true");
    try {
      let found = null;
      while (!found || found.samples < found.total) {
        const isFirst = !found;
        found = await measured(asked());
        if (mine !== turn) return;
        showMeasured(found, isFirst);
      }
    } catch (error) {
      if (mine !== turn) return;
      showNothing(notice(error.message, "error"), "Error: see why");
    }
    element.removeAttribute("aria-busy");
    if (before) warn(mine);
  }

  return { element, line: line.element, show, stop: () => (turn += 1) };
}
