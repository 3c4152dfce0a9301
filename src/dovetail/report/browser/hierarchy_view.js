// The modules of a network to look into: by mouse, by touch and by keyboard.

import { hierarchyDrawing } from "./hierarchy_drawing.js";

const ignore = (_) => {};

// `figure` has a drawing, a line of text about what one points at, and a button. `opened` are the modules that are open
// at first. `onOpen` is told which are open, `onLook` what is pointed at: { unit }, { module }, or null.
export function hierarchyView(figure, data, { opened: first = [], onOpen = ignore, onLook = ignore } = {}) {
  const { units, modules } = data;
  const svg = figure.querySelector("svg");
  const about = figure.querySelector(".hierarchy-about");
  const button = figure.querySelector("button");
  const hint = about.textContent;
  const opened = new Set(first);
  const broken = new Set();
  const drawing = hierarchyDrawing(svg, data, opened, broken);
  const { controls, circles, links, marks } = drawing;
  const { into, outOf, members, describeModule, describeUnit } = drawing.graph;

  const draw = () => {
    drawing.draw();
    clear();
    button.textContent = opened.size === modules.length ? "Modules only" : "All units";
  };
  const clear = () => {
    svg.classList.remove("chosen");
    marks.replaceChildren();
    for (const mine of svg.querySelectorAll(".mine")) mine.classList.remove("mine");
    about.textContent = hint;
  };
  const chooseUnit = (u) => {
    clear();
    svg.classList.add("chosen");
    circles.get(u).classList.add("mine");
    drawing.drawMarks(u);
    for (const v of [...into[u], ...outOf[u]]) if (circles.has(v)) circles.get(v).classList.add("mine");
    about.textContent = describeUnit(u);
    onLook({ unit: u });
  };
  const chooseModule = (m) => {
    clear();
    const mine = links.querySelectorAll(`:scope > [data-from="${m}"], :scope > [data-to="${m}"]`);
    if (mine.length) svg.classList.add("chosen");
    if (opened.has(m)) svg.classList.remove("chosen");
    for (const link of mine) link.classList.add("mine");
    about.textContent = describeModule(m);
    onLook({ module: m });
  };
  const toggle = (m) => {
    if (!opened.delete(m)) opened.add(m);
    draw();
    chooseModule(m);
    onOpen([...opened]);
  };

  const moduleOf = (target) => {
    const found = target.closest?.("[data-module]");
    return found ? Number(found.dataset.module) : null;
  };
  const look = (event) => {
    if (event.target.dataset.unit !== undefined) chooseUnit(Number(event.target.dataset.unit));
    else if (moduleOf(event.target) !== null) chooseModule(moduleOf(event.target));
    else {
      clear();
      onLook(null);
    }
  };
  // Not on the drawing itself: browsers would make it a stop of its own for the Tab key.
  const around = svg.parentElement;
  around.addEventListener("pointerover", look);
  around.addEventListener("pointerleave", () => look({ target: svg.contains(document.activeElement) ? document.activeElement : svg }));
  around.addEventListener("focusin", look);
  around.addEventListener("focusout", clear);
  around.addEventListener("click", (event) => {
    const m = moduleOf(event.target);
    if (m === null) return;
    toggle(m);
    controls[m].focus({ preventScroll: true });
  });

  // Arrow keys go from a module to its units and from unit to unit; Escape goes back, and then closes the module.
  const step = (u, key) => {
    const m = units.module[u];
    const all = [...circles.keys()].filter((v) => units.module[v] === m);
    const sideways = key === "ArrowLeft" || key === "ArrowRight";
    if (sideways) {
      const row = all.filter((v) => units.layer[v] === units.layer[u]).sort((a, b) => units.x[a] - units.x[b] || units.y[a] - units.y[b]);
      return row[row.indexOf(u) + (key === "ArrowRight" ? 1 : -1)];
    }
    const layer = units.layer[u] + (key === "ArrowUp" ? 1 : -1);
    const row = all.filter((v) => units.layer[v] === layer);
    return row.sort((a, b) => Math.abs(units.x[a] - units.x[u]) - Math.abs(units.x[b] - units.x[u]))[0];
  };
  around.addEventListener("keydown", (event) => {
    const u = event.target.dataset.unit === undefined ? null : Number(event.target.dataset.unit);
    const m = u === null ? moduleOf(event.target) : units.module[u];
    if (m === null) return;
    if (event.key === "Tab" && u !== null && controls[m]) controls[m].focus(); // and from there to the next module
    let next;
    if (u === null && (event.key === "Enter" || event.key === " ")) toggle(m);
    else if (u === null && event.key === "Escape" && opened.has(m)) toggle(m);
    else if (u !== null && event.key === "Escape") next = controls[m] || button;
    else if (event.key.startsWith("Arrow") && u !== null) next = circles.get(step(u, event.key));
    else if (event.key.startsWith("Arrow") && opened.has(m)) next = circles.get(members[m][0]);
    else return;
    event.preventDefault();
    if (next) next.focus();
  });
  button.addEventListener("click", () => {
    if (opened.size === modules.length) opened.clear();
    else modules.forEach((_, m) => opened.add(m));
    draw();
    onOpen([...opened]);
  });
  button.hidden = !modules.length;
  draw();
  return {
    // Opens the module of a unit, and shows the unit as if it were pointed at.
    showUnit: (u) => {
      const m = units.module[u];
      if (m >= 0 && !opened.has(m)) {
        opened.add(m);
        draw();
        onOpen([...opened]);
      }
      chooseUnit(u);
    },
    // Marks units as broken, and a module as taken out; none with no arguments.
    takeOut: (m = -1, hurt = []) => {
      broken.clear();
      for (const u of hurt) broken.add(u);
      controls.forEach((control, other) => control.classList.toggle("out", other === m));
      draw();
    },
  };
}
