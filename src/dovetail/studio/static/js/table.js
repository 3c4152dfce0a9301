// Tables of text and numbers, which can be taken away.

import { h, numberText } from "./elements.js";
import { tablePicture, tableRows, takeAway } from "./take-away.js";

// `columns` are titles, or { title, key, number, format }; `rows` are lists of cells, or objects with the keys.
// A cell is text, a number or an element. `head` may make something else of a column's title.
export function plainTable(columns, rows, caption = "", head = (column) => column.title) {
  const all = columns.map((column) => (typeof column === "string" ? { title: column } : column));
  const cell = (row, n) => (Array.isArray(row) ? row[n] : row[all[n].key]);
  const isNumber = (n) => all[n].number ?? rows.some((row) => typeof cell(row, n) === "number");
  const shape = all.map((_, n) => (isNumber(n) ? "number" : null));
  const shown = (row, n) => {
    const value = cell(row, n);
    const content = value instanceof Node ? value : all[n].format ? all[n].format(value, row) : numberText(value);
    const exact = typeof value === "number" ? value : null; // for those who take the table away
    return h("td", { class: shape[n], "data-value": exact }, content);
  };
  const title = (column, n) => 
    h("th", { scope: "col", class: shape[n], "aria-sort": column.sorted, "data-value": column.title }, head(column));
  return h(
    "table",
    {},
    caption && h("caption", {}, caption),
    h("thead", {}, h("tr", {}, all.map(title))),
    h("tbody", {}, rows.map((row) => h("tr", {}, all.map((_, n) => shown(row, n))))),
  );
}

// A box in which a wide table scrolls. It must be reachable by keyboard, and then needs a name.
export const scrollBox = (label, table) => h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);

// What takes a table away.
export const tableTools = (label, table) =>
  takeAway(label, { rows: () => tableRows(table), picture: () => tablePicture(table) });

// A table as all have it: in its box, with what takes it away below.
export function dataTable(columns, rows, caption = "") {
  const table = plainTable(columns, rows, caption);
  const label = caption || "Table";
  return h("div", { class: "table-box" }, scrollBox(label, table), tableTools(label, table));
}
