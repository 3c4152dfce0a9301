// A search for units and layers by what they are called.

import { get } from "../js/api.js";
import { clear, h } from "../js/elements.js";
import { latestOnly } from "./draw-latest.js";

// `onFound(layer, unit)` is called with what was chosen.
export function findBox(file, onFound) {
  const list = h("ul", { class: "networks-found", "aria-label": "Found" });
  const asking = latestOnly(
    (text) => get("/api/networks/find", { file, text }),
    (answer, text) => text === box.value.trim() && show(answer),
    (error) => clear(list, h("li", { role: "alert" }, error.message)),
  );
  const box = h("input", {
    id: "networks-find",
    type: "search",
    maxlength: 100,
    placeholder: "x3, hidden 1 unit 2, output …",
    oninput: () => (box.value.trim() ? asking.ask(box.value.trim()) : clear(list)),
    onkeydown: (event) => event.key === "Enter" && list.querySelector("button")?.click(),
  });

  function show({ found, more }) {
    const entry = ({ layer, unit, name }) =>
      h("li", {}, h("button", { type: "button", class: "small", onclick: () => onFound(layer, unit) }, name));
    clear(
      list,
      found.map(entry),
      !found.length && h("li", { class: "quiet" }, "Nothing is called so."),
      more && h("li", { class: "quiet" }, "There are more; say more of the name."),
    );
  }

  return h(
    "section",
    { class: "card networks-finding", role: "search", "aria-label": "Find a unit" },
    h("div", { class: "row" }, h("label", { for: "networks-find" }, "Find"), box),
    list,
  );
}
