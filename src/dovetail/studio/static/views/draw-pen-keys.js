// Drawing without a pointer: the arrow keys move a pen over the pad, the space bar puts it down and lifts it.

const STEP = 4;
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function penKeys(canvas, side, { begin, go, end, undo, repaint }) {
  let pen = null; // where it is, once a key has moved it
  let down = false;

  function lift() {
    if (down) end();
    down = false;
    pen = null;
  }

  canvas.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey)) undo();
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key === " ") toggle();
    else if (WAYS[event.key]) move(WAYS[event.key], event.shiftKey ? 1 : STEP);
    else return;
    event.preventDefault();
  });
  canvas.addEventListener("blur", () => {
    lift();
    repaint();
  });

  function toggle() {
    pen ??= [side / 2, side / 2];
    down = !down;
    if (down) begin([...pen]);
    else end();
    repaint();
  }

  function move(way, step) {
    pen ??= [side / 2, side / 2];
    pen = pen.map((value, axis) => Math.min(side, Math.max(0, value + step * way[axis])));
    if (down) go([...pen]);
    repaint();
  }

  // A ring where the pen is; filled when it is down.
  function paint(context) {
    if (!pen) return;
    context.beginPath();
    context.arc(...pen, 4, 0, 2 * Math.PI);
    context.lineWidth = 1;
    context.strokeStyle = context.fillStyle = "#4cb3ff";
    context.stroke();
    if (down) context.fill();
  }

  return { lift, paint };
}
