// What teaching has done: to the new class, and to those that were there.

import { h, notice } from "../js/elements.js";
import { placeOf } from "../js/place.js";
import { dataTable } from "../js/table.js";

const share = (value) => (value === null ? "–" : `${(100 * value).toFixed(1)} %`);

// `after` is how many seconds after the last stroke it was known, or null.
export function growOutcome({ file, new: names, samples, seconds, old, note, after }) {
  const time = after === null ? `in ${seconds.toFixed(1)} s` : `${after.toFixed(1)} s after the last stroke`;
  return h(
    "section",
    { class: "card grow-outcome", "aria-label": "What teaching has done" },
    h("h2", {}, `${names.join(", ")} ${names.length === 1 ? "is" : "are"} known, ${time}`),
    h("p", { class: "quiet" }, `From ${samples.toLocaleString("en")} samples; saved in `, h("a", { href: placeOf("networks", { file }) }, file), "."),
    note && notice(note),
    old && others(old, names),
  );
}

function others(old, names) {
  const rows = old.classes.map((name, place) => [name, share(old.each[place][0]), share(old.each[place][1])]);
  return [
    h(
      "p",
      {},
      `The classes that were there: ${share(old.before)} of ${old.samples.toLocaleString("en")} test samples right before, `,
      h("strong", {}, `${share(old.after)} now`),
      `; ${old.taken.toLocaleString("en")} are taken for ${names.join(", ")}. Dropped again: ${share(old.dropped)}.`,
    ),
    h(
      "details",
      {},
      h("summary", {}, "Class by class"),
      dataTable(["Class", { title: "Before", number: true }, { title: "Now", number: true }], rows, "Accuracy on each class that was there"),
    ),
  ];
}
