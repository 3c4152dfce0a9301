// A table of a recipe: for each metric ours, the published and the difference; doubtful values are marked.

import { dataTable, h } from "../js/elements.js";
import { prose } from "./runs-prose.js";

const DOUBT = "This published value is not to be trusted; the note above the table says why.";

export function resultTable({ title, note, columns, rows, doubtful }) {
  const doubts = new Set(doubtful.map(([row, column]) => `${row} ${column}`));
  const cells = rows.map((row, r) =>
    row.map((text, c) => {
      const doubt = doubts.has(`${r} ${c}`);
      const kind = `runs-${columns[c].kind}${doubt ? " runs-doubt" : ""}`;
      return h("span", { class: kind, title: doubt ? DOUBT : null }, text);
    }),
  );
  return h(
    "section",
    { class: "runs-table" },
    h("h2", {}, title),
    note ? h("div", { class: "quiet" }, prose(note)) : null,
    dataTable(columns.map(({ title: name, number }) => ({ title: name, number })), cells, title),
  );
}
