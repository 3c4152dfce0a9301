// The groups one by one, each with a button that takes it out; then which outputs break. Which edges are drawn does not matter.

import { post } from "../js/api.js";
import { clear, h, notice } from "../js/elements.js";
import { dataTable } from "../js/table.js";

const MOST_ROWS = 100;

export function withoutPanel({ drawing, groups, grouping }, place, { remember, onAnswer }) {
  const answer = h("div", { "aria-live": "polite" });
  const buttons = groups.map((_, m) =>
    h("button", { type: "button", class: "small", onclick: () => choose(m) }),
  );
  let chosen = null;
  const label = () =>
    buttons.forEach((button, m) => {
      button.textContent = m === chosen ? "Put back" : "Take out";
      button.setAttribute("aria-label", `${button.textContent} ${called(grouping, groups[m].name)}`);
    });
  label();

  async function choose(m) {
    chosen = chosen === m ? null : m; // once more puts it back
    const mine = chosen;
    label();
    remember({ out: mine });
    if (mine === null) {
      clear(answer);
      onAnswer(-1, []);
      return;
    }
    const { file, clusters } = place;
    const wish = { file, grouping, module: mine };
    if (clusters) wish.clusters = Number(clusters);
    try {
      const without = await post("/api/networks/without", wish);
      if (mine !== chosen) return;
      clear(answer, outcome(without, called(grouping, groups[mine].name)));
      onAnswer(groups[mine].drawn ?? -1, without.outputs.flatMap(({ broken }, number) => (broken ? [number] : [])));
    } catch (error) {
      if (mine === chosen) clear(answer, notice(error.message, "error"));
    }
  }

  const entry = (group, m) => {
    const module = drawing?.modules[group.drawn ?? -1]; // none where no drawn edge leads through the group
    const swatch = h("span", { class: `swatch${module?.ring ? " ring" : ""}`, "aria-hidden": "true" });
    swatch.style.setProperty("--colour", module?.colour ?? "transparent");
    return h("li", {}, swatch, h("span", { class: "grow" }, h("strong", {}, group.name), ` ${group.text}`), buttons[m]);
  };
  const out = Number(place.out ?? NaN);
  if (buttons[out]) queueMicrotask(() => choose(out)); // when the drawing is there to be marked
  return h(
    "section",
    { class: "card", "aria-labelledby": "networks-modules-title" },
    h("h3", { id: "networks-modules-title" }, grouping === "layers" ? "Whole layers" : grouping[0].toUpperCase() + grouping.slice(1)),
    groups.length ? null : h("p", { class: "quiet" }, "There are none: no path leads from an input to an output."),
    h("ul", { class: "networks-modules" }, groups.map(entry)),
    answer,
  );
}

// What a group is called in a sentence.
const called = (grouping, name) => (grouping === "specialists" && name !== "inputs" ? `specialist ${name}` : name);

export function outcome({ outputs, measure, text, units }, name) {
  const broken = outputs.filter((output) => output.broken);
  const names = broken.slice(0, 20).map((output) => output.name).join(", ") + (broken.length > 20 ? ", …" : "");
  const all = broken.length === outputs.length;
  const some = broken.length === 1 ? `output ${names} breaks` : `outputs ${names} break`;
  const what = !broken.length ? "no output breaks" : all ? "every output breaks" : some;
  const rows = outputs.length > MOST_ROWS ? broken.slice(0, MOST_ROWS) : outputs;
  return h(
    "div",
    { class: "networks-outcome" },
    h("p", {}, h("strong", {}, `Without ${name}, ${what}.`), ` ${units}`),
    dataTable(columnsOf(measure), rows.map((output) => rowOf(output, measure)), text),
  );
}

const columnsOf = (measure) => {
  if (measure === null) return ["Output", "", ""];
  return measure === "movement"
    ? ["Output", { title: "Moves by", number: true }, ""]
    : ["Output", { title: "Before", number: true }, { title: "After", number: true }, ""];
};

function rowOf({ name, before, after, broken, reached, own }, measure) {
  const verdict = h("span", { class: broken ? "broken" : "quiet" }, broken ? "breaks" : "holds");
  if (measure === null) return [name, own ? "in the module" : "", reached ? verdict : h("span", { class: "quiet" }, "not reached")];
  const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(1)} %`);
  if (measure === "movement") return [name, after === null ? "∞" : percent(after), verdict];
  return [name, percent(before), percent(after), verdict];
}
