// The specialists of one group as cards to tick.

import { post } from "../js/api.js";
import { h, notice, numberText } from "../js/elements.js";

export const percent = (share) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(1)} %`);
export const kilobytes = (bytes) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

const folderOf = (file) => file.slice(0, file.lastIndexOf("/") + 1);

function fact(name, value) {
  return h("div", {}, h("dt", {}, name), value);
}

const known = (part) => part.classes.join(", ");

const MOST_TICKED = 100; // as many as the server puts together

// The files of one specialist for each set of classes: two for the same do not go together. None if there are too many.
export function firstOfEach(group) {
  const first = new Map();
  for (const part of group?.specialists ?? []) if (!first.has(known(part))) first.set(known(part), part.file);
  return new Set(first.size > MOST_TICKED ? [] : first.values());
}

// `twin`: there is another one for the same classes, and only the file tells them apart.
// `most` is the largest entropy that there can be.
function card(part, twin, most, ticked, onTick) {
  const title = h("strong", { id: `part-${part.file}` }, known(part));
  const accuracy = h("dd", {}, percent(part.accuracy));
  const ofMost = (value) => (value === null ? "–" : `${numberText(value, 2)} of ${most.toFixed(3)}`);
  const entropy = h("dd", {}, ofMost(part.entropy));
  const box = h("input", { type: "checkbox", checked: ticked, "aria-labelledby": title.id, value: part.file });
  box.addEventListener("change", () => onTick(part.file, box.checked));
  const element = h(
    "label",
    { class: "card bench-part", title: part.file },
    h("span", { class: "row" }, box, title),
    twin && h("span", { class: "quiet bench-file" }, part.file),
    h(
      "dl",
      {},
      fact("accuracy", accuracy),
      fact("entropy", entropy),
      fact("sparsity", h("dd", {}, percent(part.sparsity))),
      fact("size", h("dd", {}, kilobytes(part.size))),
    ),
  );
  function measured(score) {
    accuracy.textContent = percent(score.accuracy);
    entropy.textContent = ofMost(score.entropy);
  }
  return { element, box, measured };
}

function groupChoice(parts, group, onGroup) {
  if (parts.groups.length === 1) return h("h2", {}, group.title);
  const choice = h(
    "select",
    { onchange: (event) => onGroup(event.target.value) },
    parts.groups.map((one) =>
      h("option", { value: one.id, selected: one === group }, `${one.title} (${one.specialists.length})`),
    ),
  );
  return h("label", { class: "bench-choice" }, "Group of specialists that fit together ", choice);
}

// `state.ticked` is kept; `onTick` and `onGroup` are called when people change something.
export function groupPanel(parts, group, state, { onTick, onGroup }) {
  let stopped = false;
  const cards = new Map();
  const first = firstOfEach(group);
  const seen = group.specialists.map(known);
  const twins = seen.filter((classes, n) => seen.indexOf(classes) !== n);
  const most = Math.log(group.classes.length);
  for (const part of group.specialists) {
    cards.set(
      part.file,
      card(part, twins.includes(known(part)), most, state.ticked.has(part.file), (file, on) => {
        if (on) state.ticked.add(file);
        else state.ticked.delete(file);
        onTick();
      }),
    );
  }
  function tickAll(on) {
    state.ticked = new Set(on ? first : []);
    sync();
    onTick();
  }
  const folders = new Set(group.specialists.map((part) => folderOf(part.file)));
  const where = folders.size === 1 && [...folders][0] ? ` in ${[...folders][0]}` : "";
  const source = h("span", {}, "in validation");
  const element = h(
    "section",
    { "aria-label": "Specialists" },
    groupChoice(parts, group, onGroup),
    group.apart && h("p", { class: "quiet" }, group.apart),
    !group.data.here && notice(`Nothing can be measured: ${group.data.note}.`),
    h(
      "div",
      { class: "row" },
      h("button", { type: "button", onclick: () => tickAll(true) }, "All"),
      h("button", { type: "button", onclick: () => tickAll(false) }, "None"),
      h("span", { class: "quiet" }, `${group.specialists.length} specialists${where}, as measured `, source),
    ),
    h("div", { class: "bench-cards" }, [...cards.values()].map((one) => one.element)),
  );

  // Asks for what each scores by itself, until all have been measured or nobody looks any more.
  async function measure() {
    const missing = new Set(group.data.here ? cards.keys() : []);
    const found = new Map();
    while (missing.size && !stopped) {
      const scores = await post("/api/bench/scores", { files: [...missing].slice(0, 100) }).catch(() => null);
      if (!scores) return;
      for (const [file, score] of Object.entries(scores)) {
        missing.delete(file);
        found.set(file, score);
      }
    }
    if (stopped || !found.size) return;
    for (const [file, score] of found) cards.get(file).measured(score);
    source.textContent = "on the test split";
  }

  // Ticks what the state has, which may come from elsewhere than the boxes.
  function sync() {
    for (const [file, { box }] of cards) box.checked = state.ticked.has(file);
  }

  return { element, measure, sync, stop: () => (stopped = true) };
}
