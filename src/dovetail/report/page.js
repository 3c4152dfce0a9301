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

// What fits on a sheet of A4 or Letter between its margins, in pixels.
const PAPER = 670;

const boxes = [...document.querySelectorAll(".chart")];

function drawOne(box, width) {
  const content = JSON.parse(box.nextElementSibling.textContent);
  const choice = box.parentElement.querySelector("select");
  const figure = choice ? content[choice.selectedIndex] : content;
  figure.layout = { ...figure.layout, template: template(), ...(width ? { width } : { autosize: true }) };
  Plotly.react(box, { ...figure, config });
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
