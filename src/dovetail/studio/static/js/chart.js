// Charts: plotly figures from the server, in the page's colours, with what takes them away.

import { chartConfig, sized, themed } from "/shared/chart_look.js";
import { h } from "./elements.js";
import { takeAway } from "./take-away.js";

const figures = new Map(); // by element, so that a new theme can draw them again
let loading = null;
let onPaper = false; // while the page is printed

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
  const { data, layout } = themed(figure);
  await library.react(element, data, sized(layout, onPaper), chartConfig);
}

function drawAll() {
  for (const [element, figure] of [...figures]) drawChart(element, figure);
}

document.addEventListener("themechange", drawAll);
addEventListener("beforeprint", () => {
  onPaper = true;
  drawAll();
});
addEventListener("afterprint", () => {
  onPaper = false;
  drawAll();
});

// A place for a chart with its name for those who cannot see it. Its room is kept from the first drawing, so that
// nothing jumps when the charts' script has come.
export function chartPlace(label) {
  const box = h("div", { class: "chart" });
  let shown = null;
  const tools = takeAway(label, { rows: () => chartRows(shown), picture: () => chartPicture(box, shown) });
  const element = h("div", { class: "chart-place", role: "group", "aria-label": label, hidden: true }, box, tools);
  function draw(figure) {
    shown = figure;
    element.hidden = false;
    box.style.minHeight = `${figure.layout.height}px`;
    return drawChart(box, figure);
  }
  return { element, draw };
}

async function chartPicture(box, figure) {
  const library = await plotly();
  const { data, layout } = themed(figure);
  const panel = getComputedStyle(document.documentElement).getPropertyValue("--panel");
  const size = { width: box.clientWidth, height: box.clientHeight };
  const url = await library.toImage({ data, layout: { ...layout, paper_bgcolor: panel } }, { format: "png", scale: 2, ...size });
  const bytes = Uint8Array.from(atob(url.split(",")[1]), (sign) => sign.charCodeAt(0));
  return new Blob([bytes], { type: "image/png" });
}

const plain = (text) => new DOMParser().parseFromString(String(text), "text/html").body.textContent;

// The numbers of a chart: a heatmap as it is drawn, all else as one row for each point of each series.
export function chartRows({ data, layout }) {
  const heatmap = data.find((trace) => trace.type === "heatmap");
  if (heatmap) {
    const values = Array.isArray(heatmap.text?.[0]) ? heatmap.text : heatmap.z;
    return [["", ...heatmap.x.map(plain)], ...values.map((row, n) => [plain(heatmap.y[n]), ...row])];
  }
  const title = (axis, name) => plain(layout[axis]?.title?.text || name);
  const points = data.flatMap((trace) =>
    (trace.y ?? trace.x).map((_, n) => [
      plain(trace.name ?? ""),
      trace.x ? readable(trace.x[n]) : n,
      trace.y ? readable(trace.y[n]) : "",
    ]),
  );
  return [["series", title("xaxis", "x"), title("yaxis", "y")], ...points];
}

const readable = (value) => (typeof value === "string" ? plain(value) : value);
