// Draws the charts of a report, on the screen and on paper.

import { chartConfig, sized, themed } from "./chart_look.js";

const boxes = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".chart"))];
const heights = new Map(boxes.map((box) => [box, Number.parseFloat(box.style.height)])); // on the screen

function drawOne(box, onPaper = false) {
  const content = JSON.parse(box.nextElementSibling.textContent);
  const choice = box.parentElement.querySelector("select");
  const figure = choice ? content[choice.selectedIndex] : content;
  const { data, layout } = themed(figure);
  const fitting = sized({ ...layout, height: heights.get(box) }, onPaper);
  box.style.height = `${fitting.height}px`;
  globalThis.Plotly.react(box, data, fitting, chartConfig);
}

function draw(onPaper = false) {
  for (const box of boxes) drawOne(box, onPaper);
}

draw();
for (const box of boxes) {
  box.parentElement.querySelector("select")?.addEventListener("change", () => drawOne(box));
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());

// On paper charts have the paper's width and light colours, and afterwards those of the window again.
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("printing");
  draw(true);
});
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("printing");
  draw();
});
