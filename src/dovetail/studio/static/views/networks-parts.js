// A composite as a matrix: its parts, its outputs, and how strongly each part speaks for or against each of them.

import { h } from "../js/elements.js";

const ABOUT =
  "Rows are parts, columns outputs: the norm of the weights that lead from a part's last hidden layer to an output, less " +
  "their mean over all outputs. Framed: what a part knows.";
const MOST_COLUMNS = 40; // numbers in wider matrices nobody reads; the shades say enough

export function partsMatrix({ parts, outputs, strengths, own }) {
  const most = Math.max(...strengths.flat(), 1e-12);
  const showsNumbers = outputs.length <= MOST_COLUMNS;
  const cell = (value, row, column) => {
    const box = h(
      "td",
      { class: own[row][column] ? "own" : null, title: `${parts[row]} to ${outputs[column]}: ${value.toFixed(2)}` },
      showsNumbers ? value.toFixed(value < 9.95 ? 1 : 0) : h("span", { class: "unseen" }, value.toFixed(1)),
    );
    box.style.setProperty("--share", `${Math.round(60 * (value / most))}%`);
    return box;
  };
  const table = h(
    "table",
    {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Part"), outputs.map((name) => h("th", { scope: "col" }, name)))),
    h(
      "tbody",
      {},
      strengths.map((values, row) =>
        h("tr", {}, h("th", { scope: "row" }, parts[row]), values.map((value, column) => cell(value, row, column))),
      ),
    ),
  );
  const scroll = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Parts and outputs" }, table);
  return h(
    "section",
    { class: "card networks-parts", "aria-labelledby": "networks-parts-title" },
    h("h3", { id: "networks-parts-title" }, "Parts and outputs"),
    h("p", { class: "quiet" }, ABOUT),
    scroll,
  );
}
