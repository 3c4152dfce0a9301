// Charts: plotly figures from the server, in the page's colours.

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

// What a figure does not set itself comes from here.
function template() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const clear = "rgba(0,0,0,0)";
  const axis = {
    gridcolor: colour("--line"),
    linecolor: colour("--line"),
    zerolinecolor: colour("--quiet"),
    automargin: true,
  };
  return {
    layout: {
      paper_bgcolor: clear,
      plot_bgcolor: clear,
      font: { color: colour("--ink"), family: getComputedStyle(document.body).fontFamily, size: 13 },
      margin: { l: 10, r: 10, t: 40, b: 10 },
      modebar: { bgcolor: clear, color: colour("--quiet"), activecolor: colour("--ink") },
      xaxis: axis,
      yaxis: axis,
    },
  };
}

// Only these buttons: among plotly's own is one that sends the data to its makers' server.
const config = {
  responsive: true,
  displaylogo: false,
  showSendToCloud: false,
  plotlyServerURL: "",
  modeBarButtons: [["toImage", "resetScale2d"]],
};

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
  const layout = { ...figure.layout, template: template() };
  await library.react(element, figure.data, layout, config);
}

document.addEventListener("themechange", () => {
  for (const [element, figure] of [...figures]) drawChart(element, figure);
});
