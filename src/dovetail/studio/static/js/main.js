// The frame around the views: which one is shown, the links to the others, the theme.

import { clear, h, notice } from "./elements.js";
import { startKeys } from "./keys.js";
import { placeOf, readPlace } from "./place.js";
import { startTheme } from "./theme.js";

const FIRST = "bench";
const main = document.getElementById("view");
const links = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("nav a"))];
const names = links.map((link) => link.dataset.view);

let turn = 0; // which showing is the latest; an earlier one that is still loading has lost its place
let leave = () => {};

async function show() {
  const mine = ++turn;
  if (!names.includes(readPlace().name)) history.replaceState(null, "", placeOf(FIRST)); // so that it can note what is shown
  const { name: shown, parameters } = readPlace();
  leave();
  leave = () => {};
  for (const link of links) {
    if (link.dataset.view === shown) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const box = h("div", { class: `view ${shown}` });
  clear(main, box);
  try {
    const { view } = await import(`../views/${shown}.js`);
    if (mine !== turn) return;
    document.title = `${view.title} · Dovetail studio`;
    const end = (await view.show(box, parameters)) ?? (() => {});
    if (mine === turn) leave = end;
    else end();
  } catch (error) {
    if (mine === turn) clear(box, notice(`This view cannot be shown: ${error.message}`, "error"));
  }
}

// "#view" is where the link to the content leads; it is no place of its own.
const isPlace = () => location.hash === "" || location.hash.startsWith("#/");

startTheme(document.getElementById("theme"));
startKeys(links);
addEventListener("hashchange", () => {
  if (!isPlace()) return;
  show();
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // or the place would be lost
  main.focus();
});
show();
