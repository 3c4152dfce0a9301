// Draws the modules of a network, and the units of those that were opened. All text goes in as text, never as markup.
(() => {
  const figure = document.currentScript.closest("figure");
  const data = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
  const { units, edges, modules, layers } = data;
  const svg = figure.querySelector("svg");
  const about = figure.querySelector(".hierarchy-about");
  const button = figure.querySelector("button");
  const hint = about.textContent;
  const opened = new Set();
  const GREY = data.grey;
  const last = layers.length - 1;

  const make = (tag, attributes, parent, text) => {
    const node = document.createElementNS(svg.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  };
  const group = (name) => make("g", { class: name }, svg);
  const wide = (text, each = 7) => text.length * each; // about how many pixels a text takes
  const listed = (words, most = 12) =>
    words.length <= most ? words.join(", ") : `${words.slice(0, most).join(", ")} and ${words.length - most} more`;
  const counted = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

  const isEnd = (u) => units.layer[u] === 0 || units.layer[u] === last;
  const moduleName = (m) => (m < 0 ? "no module" : modules[m].name);
  const colour = (m) => (m < 0 ? GREY : modules[m].colour);
  const shown = (u) => units.module[u] < 0 || opened.has(units.module[u]);

  // Who is connected with whom: unit by unit, and module by module.
  const into = units.layer.map(() => []);
  const outOf = units.layer.map(() => []);
  const between = new Map();
  for (let e = 0; e < edges.length; e += 2) {
    const [from, to] = [edges[e], edges[e + 1]];
    outOf[from].push(to);
    into[to].push(from);
    const [a, b] = [units.module[from], units.module[to]];
    if (a !== b && a >= 0 && b >= 0) between.set(`${a} ${b}`, (between.get(`${a} ${b}`) || 0) + 1);
  }
  const members = modules.map(() => []);
  units.module.forEach((m, u) => m >= 0 && members[m].push(u));

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

  const describeModule = (m) => {
    const others = (mine, other) =>
      [...between.keys()].map((key) => key.split(" ").map(Number)).filter((pair) => pair[mine] === m)
        .sort((p, q) => p[other] - q[other])
        .map((pair) => `${moduleName(pair[other])} (${counted(between.get(pair.join(" ")), "edge")})`);
    const ends = [0, last].map((layer) => members[m].filter((u) => units.layer[u] === layer).map((u) => units.name[u]));
    const [from, to] = [others(1, 0), others(0, 1)];
    return [
      `${modules[m].name}: ${modules[m].text}`,
      ends[0].length ? `inputs ${listed(ends[0])}` : "",
      ends[1].length ? `outputs ${listed(ends[1])}` : "",
      from.length ? `fed by ${listed(from)}` : "",
      to.length ? `feeds ${listed(to)}` : "",
    ].filter(Boolean).join(" · ");
  };
  const describeUnits = (list) => {
    if (isEnd(list[0])) return listed(list.map((u) => units.name[u]));
    return `${layers[units.layer[list[0]]]}: ${listed(list.map((u) => units.number[u] + 1))}`;
  };
  const describeUnit = (u) => {
    const kind = units.layer[u] === 0 ? "input" : "output";
    return [
      isEnd(u) ? `${kind} ${units.name[u]}` : `${layers[units.layer[u]]}, unit ${units.number[u] + 1}`,
      moduleName(units.module[u]),
      into[u].length ? `from ${describeUnits(into[u])}` : "",
      outOf[u].length ? `to ${describeUnits(outOf[u])}` : "",
    ].filter(Boolean).join(" · ");
  };

  // One button for each module: a circle with its name, or only its name when its units are shown.
  const controls = modules.map((module, m) => {
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
    control.setAttribute("aria-label", describeModule(m));
    if (isOpen) {
      const width = wide(module.name) + 6;
      const [x, y] = module.tag;
      make("rect", { class: "target", x: x - 3, y: y - 9, width, height: 18, rx: 4, fill: "var(--page, #fff)", "fill-opacity": 0.6 }, control);
      make("text", { class: "name tag", x, y }, control, module.name);
      return;
    }
    const [x, y] = module.centre;
    const ring = module.ring ? { fill: "var(--page, #fff)", stroke: module.colour, "stroke-width": 3 } : { fill: module.colour };
    make("circle", { class: "target", cx: x, cy: y, r: module.radius, ...ring }, control);
    if (wide(module.name, 8) < 2 * module.radius) {
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
        const each = opened.has(m) && end.single && mine.every((u) => wide(units.name[u]) < end.pitch - 2);
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
    for (const [key, count] of between) {
      const [a, b] = key.split(" ").map(Number);
      if (!opened.has(a) && !opened.has(b)) drawLink(a, b, count);
    }
  };

  // An arrow between two closed modules, bent a little so that two in opposite directions stay apart.
  const drawLink = (a, b, count) => {
    const [x0, y0] = modules[a].centre;
    const [x1, y1] = modules[b].centre;
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    const [bendX, bendY] = [(x0 + x1) / 2 - (y1 - y0) * 0.07, (y0 + y1) / 2 + (x1 - x0) * 0.07];
    const inner = Math.hypot(x1 - bendX, y1 - bendY) || 1;
    const [dx, dy] = [(x1 - bendX) / inner, (y1 - bendY) / inner];
    const [tipX, tipY] = [x1 - dx * (modules[b].radius + 3), y1 - dy * (modules[b].radius + 3)];
    const width = Math.min(5, 1.2 + Math.log2(count) * 0.45);
    const [head, half] = [7 + width, 3.5 + width * 0.8];
    const [backX, backY] = [tipX - dx * head, tipY - dy * head];
    const link = make("g", {}, links);
    link.dataset.from = a;
    link.dataset.to = b;
    make("path", { d: `M${x0} ${y0}Q${bendX} ${bendY} ${backX} ${backY}`, fill: "none", stroke: GREY, "stroke-width": width }, link);
    make("path", { d: `M${tipX} ${tipY}L${backX - dy * half} ${backY + dx * half}L${backX + dy * half} ${backY - dx * half}Z`, fill: GREY }, link);
    const t = length > 90 ? 0.4 : 0.5;
    const along = (from, bend, to) => (1 - t) ** 2 * from + 2 * t * (1 - t) * bend + t ** 2 * to;
    if (count > 1 || between.size <= 24) make("text", { class: "count", x: along(x0, bendX, x1), y: along(y0, bendY, y1) }, link, `${count}`);
  };

  const drawUnits = () => {
    dots.replaceChildren();
    circles.clear();
    let first = new Set();
    units.module.forEach((m, u) => {
      if (!shown(u)) return;
      const ring = m >= 0 && modules[m].ring;
      const fine = units.radius[u] < 4 && !ring ? " fine" : "";
      const circle = make("circle", {
        class: `unit${fine}`, cx: units.x[u], cy: units.y[u], r: units.radius[u], role: "img",
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
    const near = [...into[u].map((v) => [v, u]), ...outOf[u].map((v) => [u, v])];
    const d = near.map(([from, to]) => line(from, to)).join("");
    if (d) make("path", { d, stroke: colour(units.module[u]), "stroke-width": 2 }, marks);
    for (const v of [...into[u], ...outOf[u]]) if (circles.has(v)) circles.get(v).classList.add("mine");
    about.textContent = describeUnit(u);
  };
  const chooseModule = (m) => {
    clear();
    const mine = [...links.children].filter((link) => Number(link.dataset.from) === m || Number(link.dataset.to) === m);
    if (mine.length) svg.classList.add("chosen");
    if (opened.has(m)) svg.classList.remove("chosen");
    for (const link of mine) link.classList.add("mine");
    about.textContent = describeModule(m);
  };
  const toggle = (m) => {
    if (!opened.delete(m)) opened.add(m);
    draw();
    chooseModule(m);
  };

  const moduleOf = (target) => {
    const found = target.closest && target.closest("[data-module]");
    return found ? Number(found.dataset.module) : null;
  };
  const look = (event) => {
    if (event.target.dataset.unit !== undefined) chooseUnit(Number(event.target.dataset.unit));
    else if (moduleOf(event.target) !== null) chooseModule(moduleOf(event.target));
    else clear();
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
  });
  button.hidden = !modules.length;
  draw();
})();
