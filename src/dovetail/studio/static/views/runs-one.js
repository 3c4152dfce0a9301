// One run: how far it is, ours beside the published, figures, remarks.

import { get } from "../js/api.js";
import { clear, durationText, h, notice } from "../js/elements.js";
import { dateText, progressBar } from "./runs-progress.js";
import { prose } from "./runs-prose.js";
import { resultTable } from "./runs-table.js";

const PAUSE = 1000;

export async function showRun(element, name) {
  const progress = h("div", { class: "card", "aria-label": "Progress" });
  const trouble = h("div", {});
  const body = h("div", {});
  let shown = null;

  async function look() {
    const state = await get("/api/runs/progress", { name });
    clear(trouble);
    clear(progress, stateLine(state));
    // All of it only when there is something new.
    const stamp = `${state.state} ${state.done} ${state.changed}`;
    if (stamp === shown) return;
    const run = await get("/api/runs/run", { name });
    clear(body, content(name, run));
    shown = stamp;
  }

  clear(element, h("p", {}, h("a", { href: "#/runs" }, "All runs")), h("h1", {}, name), progress, trouble, body);
  const say = (error) => clear(trouble, notice(error.message, "error"));
  await look().catch(say);
  let here = true;
  let timer = 0;
  const again = () => {
    if (here) timer = setTimeout(() => look().catch(say).then(again), PAUSE);
  };
  again();
  return () => {
    here = false;
    clearTimeout(timer);
  };
}

function stateLine(state) {
  return [
    h("div", { class: "row" }, h("strong", {}, state.state), progressBar(state)),
    h("span", { class: "quiet" }, `${state.recipe}, ${state.scale} scale. Last unit: ${dateText(state.changed)}.`),
  ];
}

function content(name, { state, tables, figures, remarks, made_with }) {
  return [
    h("p", {}, state.title),
    h("p", { class: "quiet" }, state.shows),
    tables.length ? tables.map(resultTable) : notice("No unit is finished that a table could be made of."),
    figures.length ? h("h2", {}, "Figures") : null,
    h("div", { class: "runs-figures" }, figures.map((figure) => picture(name, figure))),
    remarks ? [h("h2", {}, "Remarks"), h("div", { class: "card runs-remarks" }, prose(remarks))] : null,
    made_with.devices.length ? h("p", { class: "quiet" }, madeWith(made_with)) : null,
  ];
}

const madeWith = ({ seconds, devices, versions }) =>
  `${durationText(seconds)} of work on ${devices.join(", ")}, with Dovetail ${versions.join(", ")}.`;

function picture(name, { name: figure, changed }) {
  const query = new URLSearchParams({ name, figure, changed });
  const image = h("img", { src: `/api/runs/figure?${query}`, alt: `Figure ${figure}` });
  return h("figure", {}, image, h("figcaption", { class: "quiet" }, figure));
}
