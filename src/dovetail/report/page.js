// Draws the charts, in the page's colours: what a figure does not set itself comes from this template.
function template() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const clear = "rgba(0,0,0,0)";
  const line = colour("--line");
  const axis = { gridcolor: line, linecolor: line, zerolinecolor: colour("--faint"), automargin: true };
  return {
    layout: {
      paper_bgcolor: clear,
      plot_bgcolor: clear,
      font: { color: colour("--text"), family: getComputedStyle(document.body).fontFamily, size: 13 },
      margin: { l: 10, r: 10, t: 40, b: 10 },
      modebar: { bgcolor: clear, color: colour("--faint"), activecolor: colour("--text") },
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

function draw() {
  for (const box of document.querySelectorAll(".chart")) {
    const figure = JSON.parse(box.nextElementSibling.textContent);
    figure.layout = { ...figure.layout, template: template() };
    Plotly.react(box, { ...figure, config });
  }
}

draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
