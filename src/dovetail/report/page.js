// Draws the charts, in the page's colours: what a figure does not set itself comes from this template.
function template() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = { gridcolor: colour("--line"), linecolor: colour("--line"), zerolinecolor: colour("--line") };
  return {
    layout: {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: colour("--text"), family: getComputedStyle(document.body).fontFamily, size: 13 },
      xaxis: axis,
      yaxis: axis,
    },
  };
}

function draw() {
  for (const box of document.querySelectorAll(".chart")) {
    const figure = JSON.parse(box.nextElementSibling.textContent);
    figure.layout = { ...figure.layout, template: template() };
    Plotly.react(box, { ...figure, config: { responsive: true, displaylogo: false } });
  }
}

draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
