// What all say: the composite, in a word and with a bar for each class, and each specialist on a small card with a box
// to tick. Those that are undecided are quiet.

import { clear, h } from "../js/elements.js";
import { entropyText, percent, setText, smallBars, verdict, wideBars } from "./draw-bars.js";

// `before` is what was said last; it stays until there is something new, so that nothing jumps.
export function makeOutputs(group, ticked, method, onTick, before = null) {
  const { classes } = group;
  const taking = group.specialists.filter(({ file }) => ticked.has(file));
  const known = new Set(taking.flatMap((one) => one.classes.map((name) => classes.indexOf(name))));
  const bars = wideBars(classes, known);
  const answer = h("strong", { class: "answer", role: "status", "aria-label": "The composite says" });
  const detail = h("span", { class: "quiet" });
  const cards = group.specialists.map((one) => specialistCard(one, classes, ticked.has(one.file), onTick));
  const title = h("h2", {}, `Composite of ${ticked.size}`, h("span", { class: "quiet" }, ` (${method})`));
  const says = h("p", { class: "says" }, answer, detail);
  const element = h(
    "div",
    { class: "outputs" },
    h("section", { class: "card composite", "aria-label": "Composite" }, bars.element),
    h("section", { class: "specialists", "aria-label": "Specialists" }, cards.map((card) => card.element)),
  );

  function setComposite(said) {
    bars.set(said);
    setText(answer, said ? verdict(said, classes) : "");
    setText(detail, said ? `${topShare(said, classes)}, ${entropyText(said, classes)}` : "");
  }
  setComposite(before?.composite);

  return {
    heading: [title, says],
    element,
    // `said` has `composite` and `specialists` (of the files that are ticked, in their order), or is null.
    set(said) {
      setComposite(said?.composite);
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
  const says = h("span", { class: "quiet said" }, isTicked ? "" : "left out");
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
      element.classList.toggle("undecided", Boolean(said) && !said.decided);
      clear(says, said && h("span", { class: "verdict" }, verdict(said, classes)), said && `entropy ${said.entropy.toFixed(2)}`);
    },
  };
}
