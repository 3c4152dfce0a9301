// All ways to put the ticked specialists together, side by side; measured when the table is opened.

import { post } from "../js/api.js";
import { clear, h, notice, numberText } from "../js/elements.js";
import { dataTable } from "../js/table.js";
import { whole } from "./bench-compare.js";
import { percent } from "./bench-group.js";

const COLUMNS = [
  "method",
  { title: "right", number: true },
  { title: "answered", number: true },
  { title: "entropy", number: true },
  { title: "unknown AUROC", number: true },
  { title: "weights", number: true },
  { title: "ms per 1,000", number: true },
];

function rowOf(title, found, cost) {
  return [
    title,
    percent(found.accuracy),
    percent(found.coverage),
    numberText(found.entropy, 3),
    numberText(found.unknown_auroc, 3),
    cost.weights,
    numberText(cost.milliseconds, 1),
  ];
}

export function methodTable(methods, files) {
  const box = h("div", {});
  const element = h("details", { ontoggle: fill }, h("summary", {}, "All methods, compared"), box);
  let begun = false;

  async function fill() {
    if (!element.open || begun) return;
    begun = true;
    const rows = [];
    for (const { name, title } of methods) {
      if (!element.isConnected) return; // something else is shown by now
      clear(box, rows.length > 0 && table(rows), notice(`Measuring: ${title}`));
      try {
        const asked = { files, method: name };
        rows.push(rowOf(title, await whole(asked), await post("/api/bench/cost", asked)));
      } catch (error) {
        rows.push([`${title}: ${error.message}`, ...COLUMNS.slice(1).map(() => "–")]);
      }
    }
    clear(box, table(rows));
  }

  const table = (rows) => dataTable(COLUMNS, rows, "On the whole test split; entropy and AUROC are of classes that nobody knows; weights are those that are not 0");
  return element;
}
