// Zooming and panning of a drawing: buttons, keys (+, −, 0, Shift with arrows), the wheel, and dragging.

import { h } from "../js/elements.js";

const STEP = 1.4;
const MOST = 12; // times as large as the whole drawing
const READABLE = 0.6; // pixels of the screen for one of the drawing, from which on its text can be read
const MOVED = 4; // pixels from which on a press is a drag, and no click

// `box` is around the `svg`, whose drawing is `width` × `height`. Returns buttons, and what shows a place.
export function zoomable(box, svg, { width, height }) {
  const view = { x: 0, y: 0, zoom: 1 };
  const label = h("output", { class: "quiet" });
  const out = h("button", { type: "button", "aria-label": "Zoom out", title: "Key: −", onclick: () => by(1 / STEP) }, "−");
  const whole = h("button", { type: "button", title: "Fit to the card. Key: 0", onclick: fit }, "Fit");
  const into = h("button", { type: "button", "aria-label": "Zoom in", title: "Key: +", onclick: () => by(STEP) }, "+");
  const element = h("div", { class: "networks-zoom row", role: "group", "aria-label": "Zoom" }, out, whole, into, label);

  const inside = (value, least, most) => Math.min(Math.max(value, least), Math.max(least, most));
  function apply() {
    view.zoom = inside(view.zoom, 1, MOST);
    view.x = inside(view.x, 0, width - width / view.zoom);
    view.y = inside(view.y, 0, height - height / view.zoom);
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${width / view.zoom} ${height / view.zoom}`);
    label.textContent = `${Math.round(100 * view.zoom)} %`;
    out.disabled = whole.disabled = view.zoom <= 1;
    into.disabled = view.zoom >= MOST;
    box.classList.toggle("zoomed", view.zoom > 1);
  }

  function fit() {
    Object.assign(view, { x: 0, y: 0, zoom: 1 });
    apply();
  }

  // The place of the drawing under a point of the screen stays there.
  function by(factor, x = view.x + width / view.zoom / 2, y = view.y + height / view.zoom / 2) {
    const zoom = inside(view.zoom * factor, 1, MOST);
    const kept = view.zoom / zoom;
    Object.assign(view, { x: x - (x - view.x) * kept, y: y - (y - view.y) * kept, zoom });
    apply();
  }

  function move(across, down) {
    view.x += across;
    view.y += down;
    apply();
  }

  function placeOf(event) {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [place.x, place.y];
  }

  // The page scrolls by the wheel, unless one is at work in the drawing or asks for it.
  box.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey && !box.contains(document.activeElement)) return;
      event.preventDefault();
      by(STEP ** (-Math.sign(event.deltaY) / 2), ...placeOf(event));
    },
    { passive: false },
  );

  let drag = null;
  box.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && view.zoom > 1) drag = { id: event.pointerId, x: event.clientX, y: event.clientY, on: false };
  });
  box.addEventListener("pointermove", (event) => {
    if (drag?.id !== event.pointerId) return;
    const [across, down] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.on && Math.hypot(across, down) < MOVED) return;
    if (!drag.on) box.setPointerCapture(event.pointerId);
    const scale = svg.getScreenCTM().a;
    move(-across / scale, -down / scale);
    Object.assign(drag, { x: event.clientX, y: event.clientY, on: true });
  });
  for (const name of ["pointerup", "pointercancel"]) box.addEventListener(name, () => setTimeout(() => (drag = null)));
  box.addEventListener(
    "click",
    (event) => drag?.on && event.stopPropagation(), // it was a drag, and opens nothing
    true,
  );

  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  box.addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const way = event.shiftKey && WAYS[event.key];
      if (way) move((way[0] * width) / view.zoom / 8, (way[1] * height) / view.zoom / 8);
      else if (event.key === "+" || event.key === "=") by(STEP);
      else if (event.key === "-") by(1 / STEP);
      else if (event.key === "0") fit();
      else return;
      event.preventDefault();
      event.stopPropagation(); // or the arrows would go from unit to unit
    },
    true,
  );

  // A drawing that is much wider than the card begins where one can read it, in the middle.
  function begin() {
    const scale = svg.getScreenCTM()?.a ?? 1;
    fit();
    if (scale < READABLE) by(READABLE / scale);
  }
  apply();
  return {
    element,
    begin,
    // Brings a place of the drawing into the middle, near enough to read what is there.
    show(x, y) {
      const scale = (svg.getScreenCTM()?.a ?? 1) / view.zoom;
      view.zoom = Math.max(view.zoom, 1 / scale, 1);
      view.zoom = Math.min(view.zoom, MOST);
      Object.assign(view, { x: x - width / view.zoom / 2, y: y - height / view.zoom / 2 });
      apply();
    },
  };
}
