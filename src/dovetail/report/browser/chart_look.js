// How charts look, in reports and in the studio: the page's colours, and few buttons.

// What a figure does not set itself comes from this template.
function chartTemplate(colour) {
  const clear = "rgba(0,0,0,0)";
  const line = colour("--line");
  const axis = { gridcolor: line, linecolor: line, zerolinecolor: colour("--quiet"), automargin: true };
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

// A colour in numbers: where people have forced theirs, it has a name that only the browser knows.
function plainColour(text) {
  if (!text || text.startsWith("#")) return text;
  const probe = document.createElement("span");
  probe.style.color = text;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

// A figure as the page shows it. Shades of heatmaps begin at the colour of the page, which may be dark.
export function themed({ data, layout }) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => plainColour(style.getPropertyValue(name).trim());
  const page = colour("--panel") || colour("--page");
  const colorscale = {
    sequential: [
      [0, page],
      [1, colour("--accent")],
    ],
    diverging: [
      [0, colour("--bad")],
      [0.5, page],
      [1, colour("--accent")],
    ],
  };
  return { data, layout: { ...layout, colorscale, template: chartTemplate(colour) } };
}

// What fits on a sheet of A4 or Letter between its margins, in pixels; and so high that a page holds several.
const PAPER = 670;
const PAPER_HEIGHT = 0.7;

// How large a chart is: as wide as its place, or for paper.
export function sized(layout, onPaper) {
  if (!onPaper) return { ...layout, autosize: true };
  return { ...layout, width: PAPER, height: Math.round(PAPER_HEIGHT * layout.height) };
}

// Only these buttons: among plotly's own is one that sends the data to its makers' server.
export const chartConfig = {
  responsive: true,
  displaylogo: false,
  showSendToCloud: false,
  plotlyServerURL: "",
  modeBarButtons: [["toImage", "resetScale2d"]],
};
