// Probabilities as bars, one for each class, and what they mean in a few words.

import { clear, h } from "../js/elements.js";

export const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

// What a network says: a class, or that none has more than half.
export const verdict = (said, classes) => (said.decided ? classes[said.winner] : "undecided");

export function entropyText(said, classes) {
  return `entropy ${said.entropy.toFixed(2)} of ${Math.log(classes.length).toFixed(2)}`;
}

// Rows of name, bar and share. `known` are the places of classes that some specialist knows.
export function wideBars(classes, known) {
  const rows = classes.map((name, place) => {
    const fill = h("span", { class: "fill" });
    const share = h("span", { class: "share" });
    const quiet = known.has(place) ? null : "No specialist that takes part knows this class";
    const row = h(
      "li",
      { class: quiet ? "unknown" : null, title: quiet, dataset: { class: name } },
      h("span", { class: "label" }, name),
      h("span", { class: "track", "aria-hidden": "true" }, fill),
      share,
    );
    return { row, fill, share };
  });
  const element = h("ol", { class: "wide-bars", "aria-label": "Probabilities" }, rows.map(({ row }) => row));
  return {
    element,
    set(said) {
      rows.forEach(({ row, fill, share }, place) => {
        const value = said?.probabilities[place] ?? 0;
        fill.style.width = `${100 * value}%`;
        share.textContent = said ? percent(value) : "";
        row.classList.toggle("winner", Boolean(said?.decided) && said.winner === place);
      });
    },
  };
}

// A small row of upright bars, for a glance.
export function smallBars(classes) {
  const fills = classes.map(() => h("span", { class: "fill" }));
  const columns = fills.map((fill, place) => h("span", { class: "column", title: classes[place] }, fill));
  const element = h("div", { class: "small-bars", role: "img" }, columns);
  return {
    element,
    set(said) {
      fills.forEach((fill, place) => {
        fill.style.height = `${100 * (said?.probabilities[place] ?? 0)}%`;
        columns[place].classList.toggle("winner", Boolean(said?.decided) && said.winner === place);
      });
      const shares = said?.probabilities.map((share, place) => `${classes[place]} ${percent(share)}`);
      element.setAttribute("aria-label", shares ? shares.join(", ") : "Nothing yet");
    },
  };
}

export function setText(element, text) {
  // Only what changes is read out.
  if (element.textContent !== text) clear(element, text);
}
