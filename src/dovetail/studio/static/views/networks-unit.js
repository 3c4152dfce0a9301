// One unit: what it reads and what reads it, the strongest weights first.

import { get, post } from "../js/api.js";
import { clear, h, notice } from "../js/elements.js";
import { outcome } from "./networks-without.js";

const PAUSE = 80; // so that a pointer that crosses the drawing does not ask about every unit under it

export function unitPanel(picture, place, remember) {
  const answer = h("div", { "aria-live": "polite" });
  const answers = new Map();
  let timer = 0;
  let latest = "";

  const layer = h(
    "select",
    { id: "networks-layer", onchange: () => choose() },
    picture.layers.map((one, number) => h("option", { value: number }, one.name)),
  );
  const number = h("input", { id: "networks-unit", type: "number", min: 1, value: 1, onchange: () => choose() });

  const choose = () => {
    const units = picture.layers[layer.value].units;
    number.max = units;
    number.value = Math.min(units, Math.max(1, Math.round(Number(number.value)) || 1));
    ask(Number(layer.value), number.value - 1);
  };

  async function ask(at, unit) {
    const key = `${at} ${unit}`;
    latest = key;
    remember({ unit: key });
    try {
      if (!answers.has(key)) answers.set(key, get("/api/networks/unit", { file: place.file, layer: at, unit }));
      const facts = await answers.get(key);
      if (key === latest) clear(answer, unitFacts(facts), picture.kind !== "modules" && breaking(at, unit, facts.name));
    } catch (error) {
      answers.delete(key);
      if (key === latest) clear(answer, notice(error.message, "error"));
    }
  }

  // A button, and in its place what breaks when the unit is 0.
  function breaking(at, unit, name) {
    const box = h("div", { class: "networks-breaking" });
    const button = h("button", { type: "button", class: "small" }, "What breaks without it?");
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        const without = await post("/api/networks/without-unit", { file: place.file, layer: at, unit });
        clear(box, outcome(without, name));
      } catch (error) {
        clear(box, notice(error.message, "error"));
      }
    });
    box.append(button);
    return box;
  }

  // What is pointed at in the drawing.
  const show = (at, unit) => {
    layer.value = at;
    number.max = picture.layers[at].units;
    number.value = unit + 1;
    clearTimeout(timer);
    timer = setTimeout(() => ask(at, unit), PAUSE);
  };

  const [at, unit] = (place.unit ?? "").split(" ").map(Number);
  if (place.unit && picture.layers[at]?.units > unit) show(at, unit);
  else clear(answer, h("p", { class: "quiet" }, "Point at a unit, or choose one here."));
  const element = h(
    "section",
    { class: "card networks-unit", "aria-labelledby": "networks-unit-title" },
    h("h3", { id: "networks-unit-title" }, "Unit"),
    h(
      "div",
      { class: "row" },
      h("label", { for: "networks-layer" }, "Layer"),
      layer,
      h("label", { for: "networks-unit" }, "Number"),
      number,
    ),
    answer,
  );
  return { element, show };
}

function unitFacts({ name, computes, inputs, outputs }) {
  return h("div", {}, h("h4", {}, name), computes && h("p", {}, h("code", {}, computes)), side("reads", inputs), side("is read by", outputs));
}

function side(verb, { strongest, total }) {
  if (!total) return h("p", { class: "quiet" }, `${verb} nothing`);
  const largest = Math.max(...strongest.map(({ weight }) => Math.abs(weight ?? 0)));
  const more = total - strongest.length;
  return h(
    "section",
    {},
    h("h5", {}, `${verb} ${total}${strongest[0].weight === null ? "" : ", strongest first"}`),
    h("ul", { class: "networks-weights" }, strongest.map((one) => edge(one, largest))),
    more > 0 && h("p", { class: "quiet" }, `and ${more.toLocaleString("en")} more`),
  );
}

function edge({ name, weight }, largest) {
  const bar = h("span", { class: `bar ${weight < 0 ? "minus" : "plus"}`, "aria-hidden": "true" });
  bar.style.width = `${largest ? (100 * Math.abs(weight ?? 0)) / largest : 0}%`;
  const text = weight === null ? "" : `${weight < 0 ? "−" : "+"}${Math.abs(weight).toPrecision(3)}`;
  return h("li", {}, h("span", { class: "who" }, name), h("span", { class: "track" }, bar), h("span", { class: "number" }, text));
}
