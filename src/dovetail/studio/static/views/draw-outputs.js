// What all say: the composite with a bar for each class, and each specialist on a small card with a box to tick.

import { clear, h } from "../js/elements.js";
import { entropyText, percent, setText, smallBars, verdict, wideBars } from "./draw-bars.js";

export function makeOutputs(group, ticked, method, onTick) {
  const { classes } = group;
  const taking = group.specialists.filter(({ file }) => ticked.has(file));
  const known = new Set(taking.flatMap((one) => one.classes.map((name) => classes.indexOf(name))));
  const bars = wideBars(classes, known);
  const answer = h("strong", { class: "answer", role: "status", "aria-label": "The composite says" });
  const detail = h("span", { class: "quiet" });
  const cards = group.specialists.map((one) => specialistCard(one, classes, ticked.has(one.file), onTick));
  const element = h(
    "div",
    { class: "outputs" },
    h(
      "section",
      { class: "card composite", "aria-label": "Composite" },
      h("h2", {}, `Composite of ${ticked.size}`, h("span", { class: "quiet" }, ` (${method})`)),
      h("p", { class: "says" }, answer, detail),
      bars.element,
    ),
    h("section", { class: "specialists", "aria-label": "Specialists" }, cards.map((card) => card.element)),
  );

  return {
    element,
    // `said` has `composite` and `specialists` (of the files that are ticked, in their order), or is null.
    set(said) {
      bars.set(said?.composite);
      setText(answer, said ? verdict(said.composite, classes) : "");
      setText(detail, said ? `${topShare(said.composite, classes)}, ${entropyText(said.composite, classes)}` : "");
      cards.filter((card) => ticked.has(card.file)).forEach((card, place) => card.set(said?.specialists[place]));
    },
  };
}

// Of what was said; where nothing was, of what comes nearest.
function topShare({ decided, winner, probabilities }, classes) {
  const share = percent(probabilities[winner]);
  return decided ? share : `nearest ${classes[winner]} with ${share}`;
}

function specialistCard(one, classes, isTicked, onTick) {
  const name = one.classes.join(", ");
  const says = h("span", { class: "quiet" }, isTicked ? "" : "left out");
  const bars = smallBars(classes);
  const box = h("input", { type: "checkbox", checked: isTicked, onchange: () => onTick(one.file, box.checked) });
  const element = h(
    "div",
    { class: isTicked ? "card specialist" : "card specialist out", dataset: { file: one.file } },
    h("label", { title: one.file }, box, h("span", { class: "knows" }, name)),
    isTicked && bars.element,
    says,
  );
  return {
    file: one.file,
    element,
    set(said) {
      bars.set(said);
      if (said) clear(says, h("b", {}, verdict(said, classes)), h("br"), `entropy ${said.entropy.toFixed(2)}`);
      else clear(says);
    },
  };
}
