// The frame around the views: which one is shown, the links to the others, the theme.

import { clear, h, notice } from "./elements.js";
import { startKeys } from "./keys.js";
import { placeOf, readPlace } from "./place.js";
import { onFolderChange, watchStudio } from "./pulse.js";
import { startTheme } from "./theme.js";

const FIRST = "bench";
const main = document.getElementById("view");
const news = document.getElementById("news");
const links = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("nav a"))];
const names = links.map((link) => link.dataset.view);

const nothing = () => {};

let turn = 0; // which showing is the latest; an earlier one that is still loading has lost its place
let current = null; // the name of the view that is shown
let leave = nothing;
let change = null; // where a view can follow the address without being made anew

// A view has a title and `show(element, parameters)`, which may return what ends it: a function, or { end, change }.
// `change` is given other parameters. A view with `watches` shows by itself what is new in the folder.
async function show() {
  const mine = ++turn;
  if (!names.includes(readPlace().name)) history.replaceState(null, "", placeOf(FIRST)); // so that it can note what is shown
  const { name: shown, parameters } = readPlace();
  clear(news);
  main.style.minHeight = shown === current ? `${main.offsetHeight}px` : ""; // or the page would jump to its top
  current = shown;
  leave();
  leave = nothing;
  change = null;
  for (const link of links) {
    if (link.dataset.view === shown) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const box = h("div", { class: `view ${shown}` });
  clear(main, box);
  let ended = nothing;
  try {
    const { view } = await import(`../views/${shown}.js`);
    if (mine !== turn) return;
    document.title = `${view.title} · Dovetail studio`;
    if (!view.watches) ended = onFolderChange(["weights"], offerNews);
    leave = ended;
    const made = await view.show(box, parameters);
    const end = made?.end ?? made ?? nothing;
    if (mine !== turn) return void end();
    change = made?.change ?? null;
    leave = () => {
      ended();
      end();
    };
  } catch (error) {
    if (mine === turn) clear(box, notice(`This view cannot be shown: ${error.message}`, "error"));
  }
  if (mine === turn) main.style.minHeight = "";
}

// Not at once: what somebody has drawn or opened would be gone.
function offerNews() {
  const button = h("button", { type: "button", onclick: show }, "Show them");
  clear(news, h("p", { class: "notice row", role: "status" }, "The folder has other files now. ", button));
}

// "#view" is where the link to the content leads; it is no place of its own.
const isPlace = () => location.hash === "" || location.hash.startsWith("#/");

startTheme(document.getElementById("theme"));
startKeys(links);
watchStudio(document.getElementById("running"), document.getElementById("trouble"));
addEventListener("hashchange", () => {
  if (!isPlace()) return;
  const { name, parameters } = readPlace();
  if (name === current && change) return change(parameters);
  const stays = name === current;
  show();
  main.focus({ preventScroll: true });
  if (!stays) scrollTo(0, 0);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // or the place would be lost
  main.focus();
});
show();
