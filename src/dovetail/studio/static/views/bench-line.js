// The composite in one line: at the bottom of narrow screens, where the result is far below the cards, and read out.

import { clear, h } from "../js/elements.js";
import { percent } from "./bench-group.js";

const MOST_NAMED = 8;

export function inShort(found) {
  const named = found.knows.length <= MOST_NAMED;
  const known = named ? `knows ${found.knows.join(", ")}` : `knows ${found.knows.length} classes`;
  if (found.accuracy === null) return `Not measured, ${known}`;
  const soFar = found.samples < found.total ? " so far" : "";
  return `${percent(found.accuracy)} right${soFar}, ${known}`;
}

// A button that leads to the result; without a text it is not there.
export function resultLine(onPress) {
  const element = h("button", { type: "button", class: "bench-line", hidden: true, onclick: onPress });
  function show(text) {
    element.hidden = !text;
    clear(element, h("span", { class: "grow" }, text), h("span", { "aria-hidden": "true" }, "↓"));
  }
  return { element, show };
}
