// A pad to draw on, with a mouse, a pen, a finger or the keyboard. It keeps what was drawn as strokes on a square of
// `side` units, so that it can be undone, and gives it as the grey pixels of that square. `begun` is what is on it.

import { h } from "../js/elements.js";
import { penKeys } from "./draw-pen-keys.js";

const PEN = 9; // of the 112 units of a side: about what a pen is to a digit on paper
const SHARPNESS = 4; // pixels of the screen's canvas for each unit

export function makePad(side, onChange, begun = []) {
  const marks = [...begun]; // strokes (lists of points) and pictures (canvases), the latest last
  const canvas = h("canvas", {
    class: "pad",
    width: side * SHARPNESS,
    height: side * SHARPNESS,
    tabindex: "0",
    role: "application",
    "aria-label": "Drawing pad",
    "aria-describedby": "pad-keys",
  });
  const small = h("canvas", { width: side, height: side });
  const screen = canvas.getContext("2d");
  const pixels = small.getContext("2d", { willReadFrequently: true });
  let stroke = null;
  let frame = 0;

  function paint(context, scale) {
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = "#000";
    context.fillRect(0, 0, side, side);
    context.strokeStyle = context.fillStyle = "#fff";
    context.lineWidth = PEN;
    context.lineCap = context.lineJoin = "round";
    for (const mark of marks) {
      if (mark instanceof HTMLCanvasElement) {
        context.drawImage(mark, 0, 0, side, side);
        continue;
      }
      context.beginPath();
      for (const point of mark) context.lineTo(...point);
      context.stroke();
      context.beginPath(); // a line without length is not drawn, but a pen leaves a dot
      context.arc(...mark[0], PEN / 2, 0, 2 * Math.PI);
      context.fill();
    }
  }

  // Once a frame at most; `isNews` is whether there is another drawing to ask about.
  let isNews = false;
  function repaint() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      paint(screen, SHARPNESS);
      keys.paint(screen);
      if (isNews) onChange();
      isNews = false;
    });
  }
  function changed() {
    isNews = true;
    repaint();
  }

  const begin = (point) => {
    stroke = [point];
    marks.push(stroke);
    changed();
  };
  const go = (point) => {
    stroke.push(point);
    changed();
  };
  const end = () => {
    stroke = null;
  };
  const keys = penKeys(canvas, side, { begin, go, end, undo, repaint });

  function place(event) {
    const box = canvas.getBoundingClientRect();
    return [((event.clientX - box.left) * side) / box.width, ((event.clientY - box.top) * side) / box.height];
  }
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !event.isPrimary) return;
    canvas.setPointerCapture(event.pointerId);
    keys.lift();
    begin(place(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!stroke || !canvas.hasPointerCapture(event.pointerId)) return;
    // Fast hands move further than once a frame; the events in between are kept here.
    for (const one of event.getCoalescedEvents?.() ?? []) go(place(one));
    go(place(event));
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, end);

  function undo() {
    end();
    keys.lift();
    marks.pop();
    changed();
  }

  repaint();
  return {
    element: canvas,
    undo,
    marks: () => marks,
    isEmpty: () => marks.length === 0,
    clear() {
      end();
      keys.lift();
      marks.length = 0;
      changed();
    },
    // Puts a picture on the pad in place of all that was there.
    put(picture) {
      marks.splice(0, marks.length, picture);
      changed();
    },
    // All pixels, a byte each, in base64; null where none is more ink than not.
    ink() {
      paint(pixels, 1);
      const { data } = pixels.getImageData(0, 0, side, side);
      const grey = Array.from({ length: side * side }, (_, pixel) => data[4 * pixel]);
      return grey.some((value) => value >= 128) ? btoa(String.fromCharCode(...grey)) : null;
    },
    stop: () => cancelAnimationFrame(frame),
  };
}
