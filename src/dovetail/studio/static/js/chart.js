// Charts: plotly figures from the server, in the page's colours.

import { chartConfig, chartTemplate } from "/shared/chart_look.js";

const figures = new Map(); // by element, so that a new theme can draw them again
let loading = null;

function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "/static/plotly.js";
    script.onload = () => resolve(globalThis.Plotly);
    script.onerror = () => {
      loading = null;
      reject(new Error("The charts' script could not be loaded."));
    };
    document.head.append(script);
  });
  return loading;
}

function dropGone(library) {
  for (const element of figures.keys()) {
    if (!element.isConnected) {
      figures.delete(element);
      library.purge(element);
    }
  }
}

// Draws a figure into an element that is on the page; called again, it changes what is there.
export async function drawChart(element, figure) {
  figures.set(element, figure);
  const library = await plotly();
  if (figures.get(element) !== figure || !element.isConnected) return; // a later one has come, or the view has gone
  dropGone(library);
  const layout = { ...figure.layout, template: chartTemplate() };
  await library.react(element, figure.data, layout, chartConfig);
}

document.addEventListener("themechange", () => {
  for (const [element, figure] of [...figures]) drawChart(element, figure);
});
