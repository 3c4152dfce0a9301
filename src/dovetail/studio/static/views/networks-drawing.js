// The drawing of modules, the same as in reports; here it also says which unit is pointed at.

import { hierarchyView } from "/shared/hierarchy_view.js";
import { h } from "../js/elements.js";

const SVG = "http://www.w3.org/2000/svg";
const HINT = "Click on a module to see its units; point at a unit to see its connections. Keys: Tab, Enter, arrows, Escape.";
const USUAL_WIDTH = 920;
const LEAST_WIDTH = 560;

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
    class: width > USUAL_WIDTH ? "wide" : "",
  })) {
    svg.setAttribute(name, value);
  }
  svg.style.minWidth = `${Math.min(width, LEAST_WIDTH)}px`;
  const scroll = h("div", { class: "hierarchy-scroll" }, svg);
  const element = h(
    "figure",
    { class: "hierarchy" },
    h("div", { class: "hierarchy-tools" }, h("button", { type: "button" }), h("span", {}, unused)),
    h("p", { class: "hierarchy-about" }, HINT),
    scroll,
  );
  const view = hierarchyView(element, drawing, {
    opened,
    onOpen,
    onLook: (at) => at?.unit !== undefined && onUnit(units.layer[at.unit], units.number[at.unit]),
  });
  // Where there is no room for all of it, the middle says most.
  requestAnimationFrame(() => (scroll.scrollLeft = (scroll.scrollWidth - scroll.clientWidth) / 2));
  return {
    element,
    // Marks a module as taken out, and outputs by their numbers as broken.
    takeOut: (module, outputs) => {
      const hurt = new Set(outputs);
      const all = units.layer.map((_, u) => u);
      view.takeOut(module, all.filter((u) => units.layer[u] === last && hurt.has(units.number[u])));
    },
  };
}
