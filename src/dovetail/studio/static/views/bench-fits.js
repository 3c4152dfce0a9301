// How well any two specialists of a group will merge, as a matrix that fills up.

import { post } from "../js/api.js";
import { clear, h, notice } from "../js/elements.js";
import { scrollBox, tableTools } from "../js/table.js";

const MOST = 30;
const NAME = "Compatibility of any two";

function cell(row, column, known) {
  if (row === column) return h("td", { "aria-label": "itself" });
  const [score, reason] = known.get(`${Math.min(row, column)} ${Math.max(row, column)}`) ?? [];
  if (reason) return h("td", { class: "number", title: reason, "aria-label": reason }, "✕");
  if (score === undefined) return h("td", { class: "number quiet" }, "·");
  const shade = `color-mix(in srgb, var(--accent) ${Math.round(35 * score)}%, transparent)`;
  return h("td", { class: "number", style: { background: shade } }, score.toFixed(2));
}

function matrix(names, known) {
  const head = names.map((name) => h("th", { scope: "col", class: "number" }, name));
  const rows = names.map((name, row) =>
    h("tr", {}, h("th", { scope: "row" }, name), names.map((_, column) => cell(row, column, known))),
  );
  return h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "knows"), head)), h("tbody", {}, rows));
}

export function fitTable(group) {
  const shown = group.specialists.slice(0, MOST);
  const names = shown.map((part) => part.classes.join(", "));
  const box = h("div", { class: "table-box" });
  const status = h("p", { class: "quiet", "aria-live": "polite" });
  const element = h(
    "section",
    { class: "bench-fits", hidden: shown.length < 2 },
    h("h2", {}, "Compatibility"),
    h(
      "p",
      { class: "quiet" },
      "The share of path strength that stays inside one of two specialists when they are added: 1 if they share no " +
        "unit, less the more they get in each other's way.",
      shown.length < group.specialists.length && ` The first ${MOST} are compared.`,
    ),
    box,
    status,
  );
  let stopped = false;

  async function fill() {
    const known = new Map();
    let total = shown.length > 1 ? 1 : 0;
    while (known.size < total && !stopped) {
      try {
        const fits = await post("/api/bench/compatibility", { files: shown.map((part) => part.file) });
        total = fits.total;
        for (const [a, b, score, reason] of fits.pairs) known.set(`${a} ${b}`, [score, reason]);
      } catch (error) {
        clear(status, notice(error.message, "error"));
        return;
      }
      if (!stopped) {
        const table = matrix(names, known);
        clear(box, scrollBox(NAME, table), tableTools(NAME, table));
      }
      status.textContent = known.size < total ? `${known.size} of ${total} pairs compared…` : "";
    }
  }

  return { element, fill, stop: () => (stopped = true) };
}
