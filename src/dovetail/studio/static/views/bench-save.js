// Saving the composite under a name in the folder.

import { post } from "../js/api.js";
import { clear, h, notice, whenSent } from "../js/elements.js";

const MOST_NAMED = 12;

function suggestion(found) {
  const plain = found.knows.map((name) => name.replace(/[^\w-]+/g, "_"));
  const what = plain.length <= MOST_NAMED ? plain.join("+") : `${plain.length}-classes`;
  return `${found.data}-${what}-${found.method}.safetensors`.replace(/[^\w.+-]+/g, "_").slice(0, 120);
}

// `ticked` holds the files and the method; `onSaved` is called when a file was written.
export function saveForm(found, ticked, onSaved) {
  const name = h("input", { type: "text", value: suggestion(found), required: true, spellcheck: "false", autocomplete: "off" });
  const message = h("div", { "aria-live": "polite" });
  const button = h("button", { type: "submit" }, "Save");
  const form = h(
    "form",
    { class: "bench-save" },
    h("h3", {}, "Save"),
    h("div", { class: "row" }, h("label", { class: "grow" }, "File in this folder", name), button),
    message,
  );
  whenSent(form, button, message, async () => {
    const { file } = await post("/api/bench/save", { ...ticked, name: name.value });
    clear(message, notice(`Saved as ${file}.`));
    onSaved(file);
  });
  return form;
}
