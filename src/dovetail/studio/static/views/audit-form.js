// The form of an audit: the settings of `dovetail audit`, with its defaults and its explanations.

import { post } from "../js/api.js";
import { clear, h, whenSent } from "../js/elements.js";

const LABELS = { k: "Clusters (k)", shuffles: "Shuffled copies", shuffle: "Shuffle", seed: "Seed" };

// `fill` takes over settings, of an audit that is shown: those that are there, and a file that is offered.
export function auditForm(offer, file, onStart) {
  const message = h("div", { "aria-live": "polite" });
  const button = h("button", { type: "submit", class: "primary" }, "Start the audit");
  const network = h("select", { id: "audit-file", name: "file", required: true });
  const more = h("p", { class: "quiet" }, "There are more files than are listed here.");
  const form = h(
    "form",
    { class: "card audit-form", "aria-label": "New audit" },
    field("file", "Network", "Only weights are read from files; nothing in them is run.", network),
    more,
    h("div", { class: "audit-settings" }, Object.entries(offer.settings).map(settingField)),
    field(
      "output",
      "Save into",
      "Folder for pictures and audit.json, as dovetail audit -o makes it; leave it empty to save nothing.",
      h("input", { id: "audit-output", name: "output", placeholder: "audits/first", autocomplete: "off" }),
    ),
    h("div", { class: "row" }, button),
    message,
  );
  whenSent(form, button, message, async () => onStart(await post("/api/audit", values(form, offer.settings))));
  function fill(asked) {
    for (const [name, value] of Object.entries(asked)) {
      const input = form.elements[name];
      const isOffered = input?.tagName !== "SELECT" || [...input.options].some((option) => option.value === value);
      if (input && isOffered) input.value = value ?? "";
    }
  }
  // What there is to choose from; what was chosen stays as long as it is there.
  function setFiles({ files, complete }, chosen = network.value) {
    more.hidden = complete;
    clear(network, files.map(({ name }) => h("option", { value: name, selected: name === chosen }, name)));
  }
  setFiles(offer, file);
  return { element: form, fill, setFiles };
}

function values(form, settings) {
  const asked = { file: form.elements.file.value, output: form.elements.output.value.trim() || null };
  for (const [name, { type }] of Object.entries(settings)) {
    const text = form.elements[name].value;
    asked[name] = type === "string" ? text : Number(text);
  }
  return asked;
}

// Settings come as JSON schema has them.
function settingField([name, { description, default: value, minimum, maximum, enum: choices }]) {
  const id = `audit-${name}`;
  const option = (choice) => h("option", { value: choice, selected: choice === value }, choice);
  const input = choices
    ? h("select", { id, name }, choices.map(option))
    : h("input", { id, name, type: "number", min: minimum, max: maximum, step: 1, value, required: true });
  return field(name, LABELS[name] ?? name, description, input);
}

function field(name, label, help, input) {
  input.setAttribute("aria-describedby", `audit-${name}-help`);
  return h(
    "div",
    { class: "audit-field" },
    h("label", { for: `audit-${name}` }, label),
    input,
    h("span", { id: `audit-${name}-help`, class: "quiet" }, help),
  );
}
