// Runs: what recipes did and are doing, their tables beside the published values, and folders of other results.

import { get } from "../js/api.js";
import { clear, emptyState, h, notice } from "../js/elements.js";
import { listParameters, listTable, readListState } from "../js/list-table.js";
import { choose, goTo, placeOf, setParameters } from "../js/place.js";
import { poll } from "../js/poll.js";
import { dataTable } from "../js/table.js";
import { SEPARATOR, showCompared } from "./runs-compare.js";
import { trainingCurves } from "./runs-curves.js";
import { showRun } from "./runs-one.js";
import { dateText, progressBar } from "./runs-progress.js";
import { recipeForm } from "./runs-start.js";

const PAUSE = 2000;
const MORE = "The folder holds more than was looked through; open the studio on a smaller one to see all.";
const NONE = "No recipe has been run in this folder. Start one below, or with dovetail reproduce.";

export const view = {
  title: "Runs",
  watches: true,
  show(element, parameters) {
    if (parameters.run) return showRun(element, parameters.run);
    return parameters.compare ? showCompared(element, parameters.compare) : showAll(element, parameters);
  },
};

const COLUMNS = [
  { title: "run", key: "name", format: (name) => link("runs", { run: name }, name) },
  { title: "state", key: "state" },
  { title: "units", key: "done", number: false, format: (_, run) => progressBar(run), value: ({ share }) => share },
  { title: "recipe", key: "recipe" },
  { title: "scale", key: "scale" },
  { title: "title", key: "title" },
  { title: "shows", key: "shows" },
  { title: "last change", key: "changed", number: false, format: dateText },
];

async function showAll(element, parameters) {
  const state = readListState({ without: "title", ...parameters });
  const ticked = new Set();
  const problems = h("div", {});
  const empty = emptyState(NONE);
  const others = h("div", {});
  const button = h("button", { type: "button", disabled: true, onclick: compare }, "Compare");
  const row = h("p", { class: "row" }, button, h("span", { class: "quiet" }, "Tick two or more."));
  const list = listTable({
    caption: "Runs of recipes in this folder",
    columns: COLUMNS,
    state,
    ticked,
    onState(isStep) {
      const { without, ...rest } = listParameters(state);
      // What is left out at first is no choice; that nothing is left out is one.
      const values = { ...rest, without: without === "title" ? null : without || "none" };
      if (isStep) choose("runs", values);
      else setParameters("runs", values);
    },
    onTick: () => (button.disabled = ticked.size < 2),
  });
  const box = h("div", {}, list.element, row);
  let shown = "";

  function compare() {
    goTo("runs", { compare: [...ticked].join(SEPARATOR) });
  }

  async function look() {
    const found = await get("/api/runs");
    const now = JSON.stringify(found);
    if (now === shown) return;
    shown = now;
    const { runs, damaged, audits, sculptures, complete } = found;
    clear(problems, complete ? null : notice(MORE), damaged.map(({ name, problem }) => notice(`${name}: ${problem}`, "error")));
    empty.hidden = runs.length > 0;
    box.hidden = runs.length === 0;
    row.hidden = runs.length < 2;
    list.show(runs);
    clear(others, audits.length || sculptures.length ? otherTable(audits, sculptures) : null);
  }

  const say = (error) => {
    clear(problems, notice(error.message, "error"));
  };
  clear(element, h("h1", {}, "Runs"), problems, empty, box, others);
  empty.hidden = box.hidden = true;
  await look();
  const curves = await trainingCurves();
  element.append(curves.element); // at once: what is not on the page when it is first drawn is never drawn
  element.append(await recipeForm());
  // Recipes that run in another terminal move here as well.
  const stop = poll(() => look().catch(say), PAUSE);
  return () => {
    curves.stop();
    stop();
  };
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
