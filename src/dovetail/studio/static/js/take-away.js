// Taking away what is shown: tables and charts as CSV and PNG.

import { h } from "./elements.js";

const KEPT = 10_000; // milliseconds that a file is held for the browser to take it
const SCALE = 2; // pixels of a picture for each on the screen

// What spreadsheets would run as a formula is marked as text: names of files and classes may be anybody's.
function csvCell(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : `${value ?? ""}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Rows of text and numbers as CSV.
export const csvText = (rows) => rows.map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");

export const fileName = (label) => label.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "dovetail";

export function save(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(URL.revokeObjectURL, KEPT, link.href);
}

// Two small buttons: `rows` gives what goes into the CSV, `picture` a Blob with the PNG.
export function takeAway(label, { rows, picture }) {
  const button = (kind, make) => {
    const made = h("button", { type: "button", class: "plain", "aria-label": `${kind}: ${label}` }, kind);
    made.addEventListener("click", async () => {
      const ending = kind.toLowerCase();
      save(`${fileName(label)}.${ending}`, await make());
    });
    return made;
  };
  return h(
    "div",
    { class: "take-away" },
    button("CSV", () => new Blob(["\ufeff", csvText(rows())], { type: "text/csv" })),
    button("PNG", picture),
  );
}

// What a table on the page says, row by row; cells that were rounded have the whole number beside them.
export function tableRows(table) {
  return [...table.rows].map((row) => [...row.cells].map((cell) => cell.dataset.value ?? cell.textContent.trim()));
}

// A table as a picture: each cell where the browser has put it, in the colours of the page.
export async function tablePicture(table) {
  const whole = table.getBoundingClientRect();
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(whole.width * SCALE);
  canvas.height = Math.ceil(whole.height * SCALE);
  const pen = canvas.getContext("2d");
  pen.scale(SCALE, SCALE);
  pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--panel");
  pen.fillRect(0, 0, whole.width, whole.height);
  for (const cell of table.querySelectorAll("caption, th, td")) drawCell(pen, cell, whole);
  return new Promise((resolve) => canvas.toBlob(resolve));
}

function drawCell(pen, cell, whole) {
  const style = getComputedStyle(cell);
  const box = cell.getBoundingClientRect();
  const [x, y] = [box.x - whole.x, box.y - whole.y];
  pen.fillStyle = style.backgroundColor;
  pen.fillRect(x, y, box.width, box.height);
  pen.fillStyle = style.borderBottomColor;
  pen.fillRect(x, y + box.height - Number.parseFloat(style.borderBottomWidth), box.width, Number.parseFloat(style.borderBottomWidth));
  pen.fillStyle = style.color;
  pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  pen.textBaseline = "middle";
  for (const { text, left, middle } of lines(cell)) pen.fillText(text, left - whole.x, middle - whole.y);
}

// The lines of text as they are broken on the screen.
function lines(cell) {
  const found = [];
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const node = walker.currentNode;
    for (let at = 0; at < node.textContent.length; at += 1) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const box = range.getBoundingClientRect();
      const line = found.at(-1);
      const middle = box.y + box.height / 2;
      if (!box.width) continue;
      if (line && line.node === node && Math.abs(line.middle - middle) < 1) line.text += node.textContent[at];
      else found.push({ node, text: node.textContent[at], left: box.x, middle });
    }
  }
  return found;
}
