// Two composites side by side: one that was kept, and the one that is shown now; numbers, and what they take for what.

import { post } from "../js/api.js";
import { chartPlace } from "../js/chart.js";
import { clear, h, notice, numberText } from "../js/elements.js";
import { dataTable } from "../js/table.js";
import { percent } from "./bench-group.js";

const three = (value) => numberText(value, 3);

const NUMBERS = [
  { what: "right", key: "accuracy", write: percent },
  { what: "answered", key: "coverage", write: percent },
  { what: "entropy on other classes", key: "entropy", write: three },
  { what: "unknown AUROC", key: "unknown_auroc", write: three },
  { what: "calibration error", key: "calibration_error", write: three },
  { what: "specialists", key: "specialists", write: numberText },
];

// What is asked of the server for a composite: specialists and a method, or a file as it is.
export const measured = ({ files, method }) =>
  method ? post("/api/bench/measure", { files, method }) : post("/api/bench/look", { file: files[0] });

export async function whole(asked, goesOn = () => true) {
  let found = null;
  while (goesOn() && (!found || found.samples < found.total)) found = await measured(asked);
  return found;
}

function numberTable(kept, now) {
  const minus = (a, b) => (typeof a === "number" && typeof b === "number" ? b - a : null);
  const signed = (value, write) => (value === null ? "–" : `${value > 0 ? "+" : ""}${write(value)}`);
  const rows = NUMBERS.map((number) => {
    const [a, b] = [kept[number.key], now[number.key]];
    return { ...number, kept: a, now: b, difference: minus(a, b) };
  });
  const write = (value, row) => row.write(value);
  return dataTable(
    [
      { title: "measure", key: "what" },
      { title: "A", key: "kept", number: true, format: write },
      { title: "B", key: "now", number: true, format: write },
      { title: "B − A", key: "difference", number: true, format: (value, row) => signed(value, row.write) },
    ],
    rows,
    "Two composites on the test split",
  );
}

// How many more test samples B puts there than A.
function differenceFigure(kept, now) {
  const [a, b] = [kept.confusion.data[0], now.confusion.data[0]];
  const counts = b.text.map((row, n) => row.map((count, m) => count - a.text[n][m]));
  const z = b.z.map((row, n) => row.map((share, m) => share - a.z[n][m]));
  const most = Math.max(...z.flat().map(Math.abs)) || 1;
  const text = counts.map((row) => row.map((count) => (count > 0 ? `+${count}` : count || "")));
  const hovertemplate = "true class %{y}<br>largest output %{x}<br>%{text} samples<extra></extra>";
  const trace = { ...b, z, text, zmin: -most, zmax: most, showscale: false, hovertemplate };
  return { data: [trace], layout: now.confusion.layout };
}

const isSame = (kept, now) => kept.classes.join("\n") === now.classes.join("\n");

const plain = (figure) => ({ ...figure, data: [{ ...figure.data[0], showscale: false }] });

// `show` is told what is kept (null for nothing), `set` what is measured now.
export function comparePanel(onEnd) {
  const body = h("div", {});
  const end = h("button", { type: "button", onclick: onEnd }, "End comparison");
  const element = h(
    "section",
    { class: "card bench-compare", "aria-label": "Side by side", hidden: true },
    h("div", { class: "row" }, h("h2", {}, "Side by side"), h("span", { class: "grow" }), end),
    body,
  );
  let turn = 0;
  let kept = null;
  let now = null;

  async function show(beside) {
    const mine = ++turn;
    element.hidden = !beside;
    kept = null;
    if (!beside) return;
    clear(body, h("p", { class: "quiet" }, "Measuring…"));
    try {
      const found = await whole(beside, () => mine === turn);
      if (mine !== turn) return;
      kept = found;
      draw();
    } catch (error) {
      if (mine === turn) clear(body, notice(`What was kept cannot be measured: ${error.message}`, "error"));
    }
  }

  function set(found) {
    now = found;
    draw();
  }

  function draw() {
    if (!kept || element.hidden) return;
    if (!now) {
      clear(body, h("p", {}, h("strong", {}, "A: "), kept.headline), h("p", { class: "quiet" }, "Tick specialists to put another beside it."));
      return;
    }
    const places = [];
    const chart = (title, figure) => {
      const place = chartPlace(title);
      places.push([place, figure]);
      return h("div", {}, h("h3", {}, title), place.element);
    };
    clear(
      body,
      h("p", {}, h("strong", {}, "A: "), kept.headline),
      h("p", {}, h("strong", {}, "B: "), now.headline),
      numberTable(kept, now),
      kept.confusion &&
        now.confusion &&
        h(
          "div",
          { class: "bench-beside" },
          chart("What A takes for what", plain(kept.confusion)),
          chart("What B takes for what", plain(now.confusion)),
          isSame(kept, now) && chart("B − A, in test samples", differenceFigure(kept, now)),
        ),
    );
    for (const [place, figure] of places) place.draw(figure);
  }

  return { element, show, set, stop: () => (turn += 1) };
}
