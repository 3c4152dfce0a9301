// One network: what it is, how its units are grouped, the drawing, and what one can ask of it.

import { h, notice } from "../js/elements.js";
import { placeOf } from "../js/place.js";
import { dataTable } from "../js/table.js";
import { modulesDrawing } from "./networks-drawing.js";
import { findBox } from "./networks-find.js";
import { partsMatrix } from "./networks-parts.js";
import { unitPanel } from "./networks-unit.js";
import { withoutPanel } from "./networks-without.js";

const SHARES = [100, 50, 25, 10, 5, 2, 1];
const CLUSTERS = [2, 3, 4, 5, 6, 8, 10, 12];

export function networkPicture(picture, place, { open, remember }) {
  const parts = [heading(picture, place.file)];
  if (picture.doubt) parts.push(notice(picture.doubt));
  if (picture.parts) parts.push(partsMatrix(picture.parts));
  if (picture.groupings.length) parts.push(controls(picture, place, open));
  if (picture.note) parts.push(h("p", { class: "quiet" }, picture.note));
  parts.push(workplace(picture, place, remember));
  return h("article", { class: "networks-picture" }, parts);
}

function heading({ title, facts }, file) {
  const terms = Object.entries(facts).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)));
  return h(
    "header",
    {},
    h("h2", {}, title),
    h("dl", { class: "networks-facts" }, terms),
    file.endsWith(".json") ? null : h("a", { href: placeOf("audit", { file }) }, "Audit it"),
  );
}

function controls(picture, place, open) {
  const select = (id, label, values, chosen, write, onChange) => {
    const made = h(
      "select",
      { id, onchange: () => onChange(made.value) },
      values.map((value) => h("option", { value, selected: String(value) === String(chosen) }, write(value))),
    );
    return h("span", { class: "row" }, h("label", { for: id }, label), made);
  };
  const other = { open: null, out: null }; // numbers of modules mean others then
  // What was asked for, where it could not be done.
  const grouping = picture.grouping ?? place.grouping;
  const strongest = picture.strongest ?? place.strongest;
  return h(
    "div",
    { class: "row networks-controls" },
    select("networks-grouping", "Group units by", picture.groupings, grouping, String, (chosen) =>
      open({ grouping: chosen, ...other }),
    ),
    grouping === "clusters" &&
      select("networks-clusters", "How many", CLUSTERS, place.clusters ?? 4, String, (count) => open({ clusters: count, ...other })),
    picture.kind !== "modules" &&
      select("networks-strongest", "Edges", SHARES, strongest, shareText, (share) => open({ strongest: share, open: null })),
  );
}

const shareText = (share) => (share === 100 ? "all" : `strongest ${share} %`);

// The drawing and the layers, and beside them what was asked about modules and units.
function workplace(picture, place, remember) {
  if (!picture.groupings.length) return layers(picture); // they are in no order, so there is nothing to ask
  const unit = unitPanel(picture, place, remember);
  let drawing = null;
  const find = findBox(place.file, (layer, number) => {
    unit.show(layer, number);
    drawing?.show(layer, number);
  });
  const side = (...panels) => h("div", { class: "networks-side" }, find, panels);
  if (!picture.grouping) return h("div", { class: "networks-columns" }, layers(picture), side(unit.element));
  if (!picture.drawing) {
    const panel = withoutPanel(picture, place, { remember, onAnswer: () => {} });
    return h("div", { class: "networks-columns" }, layers(picture), side(panel, unit.element));
  }
  drawing = modulesDrawing(picture, {
    opened: modulesIn(place.open, picture),
    onOpen: (modules) => remember({ open: modules.join(" ") }),
    onUnit: unit.show,
  });
  const without = withoutPanel(picture, place, {
    remember,
    onAnswer: drawing.takeOut,
  });
  return h(
    "div",
    { class: "networks-columns" },
    h("section", { class: "card networks-drawing", "aria-label": "Drawing" }, drawing.element),
    side(without, unit.element),
    layers(picture),
  );
}

function modulesIn(text, { drawing }) {
  const numbers = (text ?? "").split(" ").filter(Boolean).map(Number);
  return numbers.filter((m) => Number.isInteger(m) && m >= 0 && m < drawing.modules.length);
}

function layers({ layers: rows }) {
  if (!rows.length) return null;
  const percent = (value) => (value === null ? "–" : `${(100 * value).toFixed(value < 0.1 ? 2 : 1)} %`);
  const count = (value) => (value === null ? "–" : value.toLocaleString("en"));
  return h(
    "section",
    { class: "networks-layers" },
    h("h3", {}, "Layers"),
    h("p", { class: "quiet" }, "Of the whole network: units, those on a path from an input to an output, and the edges to the layer before."),
    dataTable(
      [
        { title: "Layer", key: "name" },
        { title: "Units", key: "units", number: true, format: count },
        { title: "In use", key: "used", number: true, format: count },
        { title: "Edges", key: "edges", number: true, format: count },
        { title: "Density", key: "density", number: true, format: percent },
      ],
      rows,
    ),
  );
}
