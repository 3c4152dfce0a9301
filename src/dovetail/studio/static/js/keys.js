// Two keys for each view: "g" and then its first letter. Not while something is being typed.

import { goTo } from "./place.js";

const PAUSE = 1000;

export function startKeys(links) {
  const byLetter = new Map();
  for (const link of links) {
    const letter = link.dataset.view[0];
    byLetter.set(letter, link.dataset.view);
    link.title = `Keys: g ${letter}`;
  }
  let begun = -Infinity;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (/** @type {Element} */ (event.target).closest("input, textarea, select, [contenteditable]")) return;
    const name = event.timeStamp - begun < PAUSE ? byLetter.get(event.key) : undefined;
    begun = event.key === "g" && !name ? event.timeStamp : -Infinity; // "g g" leads to a view, too
    if (name) goTo(name);
  });
}
