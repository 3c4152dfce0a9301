// Notes and remarks. The server has made HTML of their markdown: text, lists, code and emphasis, and nothing else.

import { h } from "../js/elements.js";

export function prose(html) {
  const box = h("div", { class: "prose" });
  box.innerHTML = html;
  return box;
}
