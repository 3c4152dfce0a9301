// What is on the pad, kept for as long as the tab is open: a reload and a look at another view do not take it away.

import { showPicture } from "./draw-pictures.js";

const KEY = "dovetail-pad";

// `marks` are strokes (lists of points) and pictures (canvases), as on the pad.
export function keepMarks(marks) {
  const kept = marks.map((mark) => (mark instanceof HTMLCanvasElement ? pictureOf(mark) : mark.map(rounded)));
  try {
    if (kept.length) sessionStorage.setItem(KEY, JSON.stringify(kept));
    else sessionStorage.removeItem(KEY);
  } catch {
    // There is no room, or storage is switched off; then a reload starts anew.
  }
}

export function keptMarks() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "[]").map((mark) => (Array.isArray(mark) ? mark : canvasOf(mark)));
  } catch {
    return []; // something else has written there
  }
}

const rounded = (point) => point.map((value) => Math.round(100 * value) / 100);

function pictureOf(canvas) {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const grey = Array.from({ length: width * height }, (_, pixel) => data[4 * pixel]);
  return { width, height, channels: 1, pixels: btoa(String.fromCharCode(...grey)) };
}

function canvasOf(picture) {
  const canvas = document.createElement("canvas");
  showPicture(canvas, picture);
  return canvas;
}
