// A long list as a table: sorted by any column, filtered, with the columns that one wants, and rows to tick.

import { clear, h } from "./elements.js";
import { plainTable, scrollBox, tableTools } from "./table.js";

const SEPARATOR = " ";

// What of a list stands in the address: the column it is sorted by (with a minus where the largest come first), the
// filter, and the columns that are left out.
export function readListState({ sort = "", filter = "", without = "" }) {
  return { sort, filter, without: new Set(without.split(SEPARATOR).filter(Boolean)) };
}

export const listParameters = ({ sort, filter, without }) => ({ sort, filter, without: [...without].join(SEPARATOR) });

function order(rows, columns, sort) {
  const down = sort.startsWith("-");
  const column = columns.find(({ key }) => key === sort.slice(down ? 1 : 0));
  if (!column) return rows;
  const value = column.value ?? ((row) => row[column.key]);
  const compare = (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1; // what is not there comes last
    const way = typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    return down ? -way : way;
  };
  return [...rows].sort(compare);
}

const textOf = (row, columns) => columns.map(({ key }) => row[key]).filter((value) => typeof value === "string").join("\n").toLowerCase();

// `columns` as in tables, each with a key, and `value` where something else than the cell is sorted by. `ticked` is a set
// of names; rows have a `name`. `onState(isStep)` is called when people changed the state, `onTick` when they ticked.
export function listTable({ caption, columns, state, ticked, onState, onTick }) {
  let rows = [];
  const box = h("div", { class: "table-box" });
  const count = h("span", { class: "quiet", role: "status" });
  const filter = h("input", { type: "search", value: state.filter, autocomplete: "off", spellcheck: "false" });
  filter.addEventListener("input", () => {
    state.filter = filter.value;
    onState(false);
    draw();
  });

  function choice({ key, title }) {
    const tick = h("input", { type: "checkbox", checked: !state.without.has(key) });
    tick.addEventListener("change", () => {
      if (tick.checked) state.without.delete(key);
      else state.without.add(key);
      onState(true);
      draw();
    });
    return h("label", {}, tick, " ", title);
  }

  const element = h(
    "div",
    { class: "list-table" },
    h(
      "div",
      { class: "row list-tools" },
      h("label", {}, "Filter ", filter),
      h("details", { class: "list-columns" }, h("summary", {}, "Columns"), h("div", { class: "card" }, columns.slice(1).map(choice))),
      count,
    ),
    box,
  );

  function title(column) {
    if (!column.key || column.key === "tick") return column.title;
    const down = state.sort === `-${column.key}`;
    const sorted = down || state.sort === column.key;
    const press = () => {
      state.sort = sorted && !down ? `-${column.key}` : column.key;
      onState(true);
      draw();
    };
    const arrow = h("span", { "aria-hidden": "true" }, sorted ? (down ? " ↓" : " ↑") : "");
    return h("button", { type: "button", class: "plain sort", "data-focus": `sort ${column.key}`, onclick: press }, column.title, arrow);
  }

  function tickOf(name) {
    const input = h("input", { type: "checkbox", checked: ticked.has(name), "aria-label": `Compare ${name}`, "data-focus": `tick ${name}` });
    input.addEventListener("change", () => {
      if (input.checked) ticked.add(name);
      else ticked.delete(name);
      onTick();
    });
    return input;
  }

  function draw() {
    const wanted = state.filter.trim().toLowerCase();
    const shown = columns.filter(({ key }) => !state.without.has(key));
    const found = order(rows, columns, state.sort).filter((row) => textOf(row, shown).includes(wanted));
    count.textContent = wanted ? `${found.length} of ${rows.length}` : "";
    const sorted = (key) => (state.sort === key ? "ascending" : state.sort === `-${key}` ? "descending" : null);
    const all = [
      { title: "compare", key: "tick", number: false, format: (_, row) => tickOf(row.name) },
      ...shown.map((column) => ({ ...column, sorted: sorted(column.key) })),
    ];
    const table = plainTable(all, found, caption, title);
    const focus = box.contains(document.activeElement) ? focusOf(document.activeElement) : null;
    clear(box, scrollBox(caption, table), tableTools(caption, table));
    if (focus) [...box.querySelectorAll("a, [data-focus]")].find((one) => focusOf(one) === focus)?.focus({ preventScroll: true });
  }

  return {
    element,
    show(now) {
      rows = now;
      draw();
    },
  };
}

const focusOf = (element) => element.dataset.focus ?? element.getAttribute("href");
