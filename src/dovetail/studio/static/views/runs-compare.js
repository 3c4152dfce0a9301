// Several runs side by side: how far they are, and what each has in the same cell of the same table.

import { get } from "../js/api.js";
import { clear, h, notice, numberText } from "../js/elements.js";
import { placeOf } from "../js/place.js";
import { dataTable } from "../js/table.js";
import { dateText } from "./runs-progress.js";

export const SEPARATOR = "\n"; // no folder has it in its name

export async function showCompared(element, names) {
  const body = h("div", {}, h("p", { class: "quiet" }, "Reading the runs…"));
  clear(element, h("p", {}, h("a", { href: "#/runs" }, "All runs")), h("h1", {}, "Runs side by side"), body);
  try {
    const { runs, tables } = await get("/api/runs/compare", { name: names.split(SEPARATOR) });
    const shared = tables.filter((table) => sharedRows(table).length);
    clear(
      body,
      stateTable(runs),
      runs.length > 1 && !shared.length && notice("These runs have no quantity in common; each is shown by itself."),
      tables.map((table) => quantityTable(table, runs, tables.length > 0 && shared.length > 0)),
    );
  } catch (error) {
    clear(body, notice(error.message, "error"));
  }
}

const sharedRows = ({ rows }) => rows.filter(({ values }) => values.filter((value) => value !== null).length > 1);

function stateTable(runs) {
  const columns = [
    { title: "run", key: "name", format: (name) => h("a", { href: placeOf("runs", { run: name }) }, name) },
    { title: "recipe", key: "recipe" },
    { title: "scale", key: "scale" },
    { title: "state", key: "state" },
    { title: "units", key: "done", number: true, format: (done, run) => `${numberText(done)} of ${numberText(run.units)}` },
    { title: "last change", key: "changed", number: false, format: dateText },
  ];
  return dataTable(columns, runs, "How far they are");
}

// Where runs share quantities, what only one of them has is left out.
function quantityTable(table, runs, onlyShared) {
  const rows = onlyShared ? sharedRows(table) : table.rows;
  if (!rows.length) return null;
  const isWhole = (metric) => rows.every((row) => row.metric !== metric || row.values.every(Number.isInteger));
  const whole = new Set(rows.map(({ metric }) => metric).filter(isWhole));
  const write = (value, { metric }) => (value === null || whole.has(metric) ? numberText(value) : value.toFixed(table.digits));
  const there = runs.map(({ name }, n) => ({ name, n })).filter(({ n }) => rows.some(({ values }) => values[n] !== null));
  const hasPublished = rows.some(({ published }) => published !== null);
  const columns = [
    ...table.labels.map((title, n) => ({ title, key: `label ${n}` })),
    { title: "quantity", key: "metric" },
    ...there.map(({ name, n }) => ({ title: name, key: `value ${n}`, number: true, format: write })),
    ...(there.length === 2 ? [{ title: "difference", key: "difference", number: true, format: signed(write) }] : []),
    ...(hasPublished ? [{ title: "published", key: "published", number: true, format: write }] : []),
  ];
  const shown = rows.map(({ labels, metric, values, published }) => ({
    ...Object.fromEntries(labels.map((label, n) => [`label ${n}`, label])),
    ...Object.fromEntries(values.map((value, n) => [`value ${n}`, value])),
    metric,
    published,
    difference: there.length === 2 ? minus(values[there[0].n], values[there[1].n]) : null,
  }));
  return h("section", {}, h("h2", {}, table.title), dataTable(columns, shown, table.title));
}

const minus = (a, b) => (a === null || b === null ? null : b - a);

const signed = (write) => (value, row) => `${value > 0 ? "+" : ""}${write(value, row)}`;
