// The drawing of modules, the same as in reports; here it also says which unit is pointed at.

import { hierarchyView } from "/shared/hierarchy_view.js";
import { h } from "../js/elements.js";
import { zoomable } from "./networks-zoom.js";

const SVG = "http://www.w3.org/2000/svg";
const LARGEST = 1.5; // times its own size that a small drawing is shown at most
const HINT =
  "Click on a group to see its units; point at a unit to see its connections. Keys: Tab, Enter, arrows, Escape; +, − and 0 zoom, " +
  "Shift with arrows moves. The wheel zooms with Ctrl, or once you are in the drawing; drag to move.";

export function modulesDrawing({ drawing, unused, grouping }, { opened, onOpen, onUnit }) {
  const { units } = drawing;
  const last = drawing.layers.length - 1;
  const svg = document.createElementNS(SVG, "svg");
  const { width, height } = drawing;
  for (const [name, value] of Object.entries({
    role: "group",
    "aria-label": `Units grouped by ${grouping}`,
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
  })) {
    svg.setAttribute(name, value);
  }
  svg.style.maxWidth = `${LARGEST * width}px`;
  const around = h("div", { class: "hierarchy-scroll" }, svg);
  const zoom = zoomable(around, svg, drawing);
  const element = h(
    "figure",
    { class: "hierarchy" },
    h("div", { class: "hierarchy-tools" }, h("button", { type: "button" }), zoom.element, h("span", {}, unused)),
    h("p", { class: "hierarchy-about" }, HINT),
    around,
  );
  const view = hierarchyView(element, drawing, {
    opened,
    onOpen,
    onLook: (at) => at?.unit !== undefined && onUnit(units.layer[at.unit], units.number[at.unit]),
  });
  requestAnimationFrame(zoom.begin);
  return {
    element,
    // Shows a unit, its group opened, in the middle; nothing where no drawn edge leads to it.
    show: (layer, number) => {
      const u = units.layer.findIndex((at, place) => at === layer && units.number[place] === number);
      if (u < 0) return;
      view.showUnit(u);
      zoom.show(units.x[u], units.y[u]);
    },
    // Marks a module as taken out, and outputs by their numbers as broken.
    takeOut: (module, outputs) => {
      const hurt = new Set(outputs);
      const all = units.layer.map((_, u) => u);
      view.takeOut(module, all.filter((u) => units.layer[u] === last && hurt.has(units.number[u])));
    },
  };
}
