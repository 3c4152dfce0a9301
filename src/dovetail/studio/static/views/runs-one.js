// One run: how far it is, and what a report says of it: ours beside the published, figures, remarks.

import { get } from "../js/api.js";
import { clear, h, notice } from "../js/elements.js";
import { poll } from "../js/poll.js";
import { tableTools } from "../js/table.js";
import { dateText, progressBar } from "./runs-progress.js";

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
    clear(body, content(run));
    shown = stamp;
  }

  clear(element, h("p", {}, h("a", { href: "#/runs" }, "All runs")), h("h1", {}, name), progress, trouble, body);
  const say = (error) => {
    clear(trouble, notice(error.message, "error"));
  };
  await look().catch(say);
  return poll(() => look().catch(say), PAUSE);
}

function stateLine(state) {
  return [
    h("div", { class: "row" }, h("strong", {}, state.state), progressBar(state)),
    h("span", { class: "quiet" }, `${state.recipe}, ${state.scale} scale. Last unit: ${dateText(state.changed)}.`),
  ];
}

// The server has made the HTML, and all names in it are escaped. Its headings lead to themselves, which is no place here.
function content({ state, html }) {
  const report = h("div", { class: "runs-report" });
  report.innerHTML = html;
  for (const link of report.querySelectorAll("h2 a")) link.replaceWith(...link.childNodes);
  for (const box of report.querySelectorAll(".scroll")) {
    const table = box.querySelector("table");
    if (table) box.after(tableTools(box.getAttribute("aria-label") || state.title, table));
  }
  return [h("p", {}, state.title), h("p", { class: "quiet" }, state.shows), report];
}
