// New classes from data that lies in the studio's folder: a table, or a folder with a folder of images for each class.

import { emptyState, h, whenSent } from "../js/elements.js";

// `onAdd({ data, target })` is called with what was chosen.
export function makeData(names, onAdd) {
  const data = h("select", { id: "grow-data" }, names.map((name) => h("option", { value: name }, name)));
  const target = h("input", { id: "grow-target", maxlength: 200, autocomplete: "off", placeholder: "found by itself" });
  const add = h("button", { type: "submit" }, "Add its new classes");
  const message = h("div", {});
  const form = h(
    "form",
    { class: "grow-data" },
    h("div", { class: "row" }, h("label", { for: "grow-data" }, "Data"), data),
    h("div", { class: "row" }, h("label", { for: "grow-target" }, "Column with the class"), target),
    h("div", { class: "row" }, add),
    message,
  );
  whenSent(form, add, message, () => onAdd({ data: data.value, target: target.value.trim() || null }));
  const empty = emptyState("There are no tables and no folders of images in the studio's folder.");
  const element = h("details", { class: "grow-from" }, h("summary", {}, "From data in the folder"), names.length ? form : empty);
  return { element };
}
