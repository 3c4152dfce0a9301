// Draws the modules of a network, and the units of those that were opened. All text goes in as text, never as markup.

import { counted, readGraph } from "./hierarchy_graph.js";

// How many pixels a text takes, in the type of the style.
const ruler = document.createElement("canvas").getContext("2d");
const wide = (text, weight = 400) => {
  ruler.font = `${weight} 12px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif`;
  return ruler.measureText(text).width;
};

// The parts of the drawing, and a function for each that draws it anew. `opened` holds the modules that show their
// units; `broken` the units to mark.
export function hierarchyDrawing(svg, data, opened, broken) {
  const { units, edges, modules, layers } = data;
  const graph = readGraph(data);
  const { last, between, members, colour, describeModule, describeUnit } = graph;

  const make = (tag, attributes, parent, text) => {
    const node = document.createElementNS(svg.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  };
  const group = (name) => make("g", { class: name }, svg);
  const shown = (u) => units.module[u] < 0 || opened.has(units.module[u]);

  const areas = group("areas");
  const edgesBelow = group("edges");
  const links = group("links");
  const marks = group("marks");
  const dots = group("units");
  const names = group("names");
  const buttons = group("modules");
  const circles = new Map();

  layers.forEach((name, layer) => make("text", { class: "layer", x: 4, y: data.heights[layer] }, svg, name));
  modules.forEach((module, m) => {
    for (const path of module.areas) {
      const area = make("path", { class: "area", d: path, fill: module.colour, stroke: module.colour }, areas);
      area.dataset.module = m;
    }
  });

  // One button for each module: a circle with its name, or only its name when its units are shown.
  const controls = modules.map((_, m) => {
    const control = make("g", { class: "module", tabindex: 0, role: "button" }, buttons);
    control.dataset.module = m;
    return control;
  });
  const drawControl = (m) => {
    const control = controls[m];
    const module = modules[m];
    const isOpen = opened.has(m);
    control.replaceChildren();
    control.setAttribute("aria-expanded", isOpen);
    control.classList.toggle("hurt", members[m].some((u) => broken.has(u)));
    control.setAttribute("aria-label", describeModule(m));
    if (isOpen) {
      const width = wide(module.name, 700) + 6;
      const [x, y] = module.tag;
      make("rect", { class: "target", x: x - 3, y: y - 9, width, height: 18, rx: 4, fill: "var(--page, #fff)", "fill-opacity": 0.6 }, control);
      make("text", { class: "name tag", x, y }, control, module.name);
      return;
    }
    const [x, y] = module.centre;
    const ring = module.ring ? { fill: "var(--page, #fff)", stroke: module.colour, "stroke-width": 3 } : { fill: module.colour };
    make("circle", { class: "target", cx: x, cy: y, r: module.radius, ...ring }, control);
    if (wide(module.name, 700) + 4 < 2 * module.radius) {
      const name = make("text", { class: "name", x, y }, control, module.name);
      if (!module.ring) name.style.fill = module.ink;
    } else make("text", { class: "name count", x, y: y + module.radius + 9 }, control, module.name);
    const size = counted(module.units, "unit");
    const beside = module.radius + 6;
    if (beside + wide(size) < module.beside) make("text", { class: "count beside", x: x + beside, y }, control, size);
  };

  // Names of inputs and outputs: of each unit where it is shown and there is space, else of the module.
  const drawNames = () => {
    names.replaceChildren();
    modules.forEach((module, m) => {
      for (const end of module.ends) {
        const mine = members[m].filter((u) => units.layer[u] === end.layer);
        const here = !opened.has(m) && Math.abs(module.centre[1] - data.heights[end.layer]) < 1;
        const reach = Math.max(end.depth / 2, here ? module.radius : 0) + 11;
        const y = data.heights[end.layer] + (end.layer === 0 ? reach : -reach);
        if (y < 6 || y > data.height - 6) continue; // a large circle leaves no room, and says how many units it stands for
        const each = opened.has(m) && end.single && mine.every((u) => wide(units.name[u]) + 4 < end.pitch - 2);
        if (each) {
          for (const u of mine) make("text", { x: units.x[u], y }, names, units.name[u]);
          continue;
        }
        const texts = [mine.map((u) => units.name[u]).join(", "), counted(mine.length, end.layer === 0 ? "input" : "output"), `${mine.length} ${end.layer === 0 ? "in" : "out"}`];
        const text = texts.find((words) => wide(words) < end.width + 6);
        if (text) make("text", { x: end.middle, y }, names, text);
      }
    });
    units.module.forEach((m, u) => {
      const outwards = units.layer[u] === 0 ? 1 : units.layer[u] === last ? -1 : 0;
      if (m < 0 && outwards && wide(units.name[u]) < 5 * units.radius[u]) {
        make("text", { x: units.x[u], y: units.y[u] + outwards * (units.radius[u] + 14) }, names, units.name[u]);
      }
    });
  };

  const place = (u) => (shown(u) ? [units.x[u], units.y[u]] : modules[units.module[u]].centre);
  const line = (from, to) => `M${place(from).join(" ")}L${place(to).join(" ")}`;

  const drawEdges = () => {
    edgesBelow.replaceChildren();
    links.replaceChildren();
    const paths = new Map();
    const seen = new Set();
    for (let e = 0; e < edges.length; e += 2) {
      const [from, to] = [edges[e], edges[e + 1]];
      if (!shown(from) && !shown(to)) continue;
      const key = `${shown(from) ? from : `m${units.module[from]}`} ${shown(to) ? to : `m${units.module[to]}`}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const owner = units.module[from] === units.module[to] ? units.module[from] : -1;
      if (!paths.has(owner)) paths.set(owner, []);
      paths.get(owner).push(line(from, to));
    }
    const width = Math.min(1.5, Math.max(0.4, 1.5 * (150 / Math.max(seen.size, 1)) ** 0.3));
    for (const [owner, parts] of [...paths].sort((a, b) => a[0] - b[0])) {
      make("path", { d: parts.join(""), stroke: colour(owner), "stroke-width": width, "stroke-opacity": Math.max(0.35, width / 1.7) }, edgesBelow);
    }
    const counts = [...between].flatMap(([key, count]) => {
      const [a, b] = key.split(" ").map(Number);
      return opened.has(a) || opened.has(b) ? [] : [drawLink(a, b, count)];
    });
    links.append(...counts); // above all arrows
  };

  // An arrow between two closed modules, bent so that two in opposite directions stay apart; further between modules at
  // the same height, to get around those that stand between them. Returns its count, which is not in the drawing yet.
  const drawLink = (a, b, count) => {
    const [x0, y0] = modules[a].centre;
    const [x1, y1] = modules[b].centre;
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    const bend = Math.abs(y1 - y0) < 20 ? 0.3 : 0.07;
    const inside = (y) => Math.min(Math.max(y, 8), data.height - 8);
    const [bendX, bendY] = [(x0 + x1) / 2 - (y1 - y0) * bend, inside((y0 + y1) / 2 + (x1 - x0) * bend)];
    const inner = Math.hypot(x1 - bendX, y1 - bendY) || 1;
    const [dx, dy] = [(x1 - bendX) / inner, (y1 - bendY) / inner];
    const [tipX, tipY] = [x1 - dx * (modules[b].radius + 3), y1 - dy * (modules[b].radius + 3)];
    const crowd = Math.min(1, (24 / between.size) ** 0.7);
    const width = crowd * Math.min(5, 1.2 + Math.log2(count) * 0.45);
    const [head, half] = [7 + width, 3.5 + width * 0.8];
    const [backX, backY] = [tipX - dx * head, tipY - dy * head];
    const [link, label] = [make("g", {}, links), make("g", {})];
    for (const part of [link, label]) Object.assign(part.dataset, { from: a, to: b });
    make("path", { d: `M${x0} ${y0}Q${bendX} ${bendY} ${backX} ${backY}`, fill: "none", stroke: data.grey, "stroke-width": width }, link);
    make("path", { d: `M${tipX} ${tipY}L${backX - dy * half} ${backY + dx * half}L${backX + dy * half} ${backY - dx * half}Z`, fill: data.grey }, link);
    const t = length > 90 ? 0.4 : 0.5;
    const along = (from, bend, to) => (1 - t) ** 2 * from + 2 * t * (1 - t) * bend + t ** 2 * to;
    if (between.size <= 24) make("text", { class: "count", x: along(x0, bendX, x1), y: along(y0, bendY, y1) }, label, `${count}`);
    return label;
  };

  const drawUnits = () => {
    dots.replaceChildren();
    circles.clear();
    let first = new Set();
    units.module.forEach((m, u) => {
      if (!shown(u)) return;
      const ring = m >= 0 && modules[m].ring;
      const fine = units.radius[u] < 4 && !ring ? " fine" : "";
      const hurt = broken.has(u) ? " broken" : "";
      const circle = make("circle", {
        class: `unit${fine}${hurt}`, cx: units.x[u], cy: units.y[u], r: units.radius[u], role: "img",
        tabindex: m < 0 && !first.has(m) ? 0 : -1, "aria-label": describeUnit(u),
        fill: ring ? "var(--page, #fff)" : colour(m),
      }, dots);
      if (ring) circle.style.cssText = `stroke: ${colour(m)}; stroke-width: ${units.radius[u] / 3}px`;
      first = first.add(m);
      circle.dataset.unit = u;
      circles.set(u, circle);
    });
  };

  const draw = () => {
    controls.forEach((_, m) => drawControl(m));
    drawEdges();
    drawUnits();
    drawNames();
  };
  // The edges of one unit, over all others.
  const drawMarks = (u) => {
    const near = [...graph.into[u].map((v) => [v, u]), ...graph.outOf[u].map((v) => [u, v])];
    const d = near.map(([from, to]) => line(from, to)).join("");
    if (d) make("path", { d, stroke: colour(units.module[u]), "stroke-width": 2 }, marks);
  };
  return { graph, controls, circles, links, marks, draw, drawMarks };
}
