// Runs: what recipes did and are doing, their tables beside the published values, and folders of other results.

import { get } from "../js/api.js";
import { clear, dataTable, emptyState, h, notice } from "../js/elements.js";
import { placeOf } from "../js/place.js";
import { showRun } from "./runs-one.js";
import { recipeForm } from "./runs-start.js";
import { dateText, progressBar } from "./runs-progress.js";

const PAUSE = 2000;
const MORE = "The folder holds more than was looked through; open the studio on a smaller one to see all.";
const NONE = "No recipe has been run in this folder. Start one below, or with dovetail reproduce.";

export const view = {
  title: "Runs",
  show: (element, parameters) => (parameters.run ? showRun(element, parameters.run) : showAll(element)),
};

async function showAll(element) {
  const list = h("div", {}, h("p", { class: "quiet" }, "Looking through the folder…"));
  clear(element, h("h1", {}, "Runs"), list);
  let shown = "";

  async function look() {
    const found = await get("/api/runs");
    const now = JSON.stringify(found);
    if (now === shown) return;
    shown = now;
    keepingFocus(list, () => clear(list, tables(found)));
  }

  await look();
  element.append(await recipeForm());
  // Recipes that run in another terminal move here as well.
  const timer = setInterval(() => look().catch((error) => clear(list, notice(error.message, "error"))), PAUSE);
  return () => clearInterval(timer);
}

function tables({ runs, damaged, audits, sculptures, complete }) {
  const others = audits.length || sculptures.length;
  return [
    complete ? null : notice(MORE),
    damaged.map(({ name, problem }) => notice(`${name}: ${problem}`, "error")),
    runs.length ? runTable(runs) : emptyState(NONE),
    others ? otherTable(audits, sculptures) : null,
  ];
}

function runTable(runs) {
  const columns = [
    { title: "run", key: "name", format: (name) => link("runs", { run: name }, name) },
    { title: "state", key: "state" },
    { title: "units", key: "done", number: false, format: (_, run) => progressBar(run) },
    { title: "recipe", key: "recipe" },
    { title: "scale", key: "scale" },
    { title: "shows", key: "shows" },
    { title: "last change", key: "changed", number: false, format: dateText },
  ];
  return dataTable(columns, runs, "Runs of recipes in this folder");
}

function otherTable(audits, sculptures) {
  const rows = [
    ...audits.map((name) => ["audit", link("audit", { saved: name }, name)]),
    ...sculptures.map((file) => ["sculpture", link("networks", { file }, file)]),
  ];
  const table = dataTable(["what", "where"], rows, "Saved audits and sculpted networks");
  return [h("h2", {}, "Audits and sculptures"), table];
}

const link = (name, values, text) => h("a", { href: placeOf(name, values) }, text);

// Draws a list anew without taking the focus from the link that has it.
function keepingFocus(list, draw) {
  const href = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  draw();
  if (href) [...list.querySelectorAll("a")].find((entry) => entry.getAttribute("href") === href)?.focus();
}
