// Draws the charts of a report, on the screen and on paper.

import { chartConfig, themed } from "./chart_look.js";

// What fits on a sheet of A4 or Letter between its margins, in pixels.
const PAPER = 670;

const boxes = [...document.querySelectorAll(".chart")];

function drawOne(box, width) {
  const content = JSON.parse(box.nextElementSibling.textContent);
  const choice = box.parentElement.querySelector("select");
  const figure = choice ? content[choice.selectedIndex] : content;
  const { data, layout } = themed(figure);
  globalThis.Plotly.react(box, data, { ...layout, ...(width ? { width } : { autosize: true }) }, chartConfig);
}

function draw(width) {
  boxes.forEach((box) => drawOne(box, width));
}

draw();
for (const box of boxes) {
  box.parentElement.querySelector("select")?.addEventListener("change", () => drawOne(box));
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());

// On paper charts have the paper's width and light colours, and afterwards those of the window again.
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("printing");
  draw(PAPER);
});
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("printing");
  draw();
});
