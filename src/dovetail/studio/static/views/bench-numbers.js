// The charts of a measurement as tables, for those who read numbers or cannot see the pictures.

import { clear, h, numberText } from "../js/elements.js";
import { dataTable } from "../js/table.js";
import { percent } from "./bench-group.js";

function classTable(found) {
  const rows = found.classes.map((name, n) => [
    name,
    found.knows.includes(name) ? "yes" : "no",
    percent(found.class_accuracy[n]),
    numberText(found.class_entropy[n], 3),
  ]);
  const columns = ["class", "known", { title: "accuracy", number: true }, { title: "entropy", number: true }];
  return dataTable(columns, rows, "On the test split");
}

function confusionTable(found) {
  const counts = found.confusion.data[0].text;
  const rows = found.classes.map((name, n) => [name, ...counts[n]]);
  const columns = found.classes.map((name) => ({ title: name, number: true }));
  return dataTable(["true class", ...columns], rows, "Test samples of each class (rows) by largest output (columns)");
}

// A table that is made when it is opened, because it may be large, and kept up to date while it is open.
function folded(title, make) {
  const box = h("div", {});
  const element = h("details", { ontoggle: fill }, h("summary", {}, title), box);
  let latest = null;
  function fill() {
    if (element.open && latest) clear(box, make(latest));
  }
  function show(found) {
    latest = found;
    fill();
  }
  return { element, show };
}

export const classNumbers = () => folded("By class, in numbers", classTable);
export const confusionNumbers = () => folded("What it takes for what, in numbers", confusionTable);
