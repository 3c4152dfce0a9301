// Elements of the page. Text is always text: nothing here reads a string as HTML.

// `attributes` may hold `class`, `dataset` and `style` (objects), event handlers (`onclick`), properties such as
// `value` and `checked`, and attributes; false, null and undefined leave one out.
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "class") element.className = value;
    else if (name === "dataset" || name === "style") Object.assign(element[name], value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (["value", "checked", "disabled", "selected", "hidden"].includes(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === false || child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

// Takes all children out, and puts others in where they are given.
export function clear(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

// A message in its place on the page; errors are read out at once.
export function notice(text, kind = "info") {
  return h("p", { class: `notice ${kind}`, role: kind === "error" ? "alert" : "status" }, text);
}

// What is shown in place of a list that has nothing in it, with what one can do about it.
export function emptyState(text, ...actions) {
  return h("div", { class: "empty" }, h("p", {}, text), actions.length ? h("div", { class: "row" }, actions) : null);
}

// A whole number with its thousands apart.
export const countText = (value) => value.toLocaleString("en");

// A number as people read it: whole ones whole, others with `digits` places.
export function numberText(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? countText(value) : value.toFixed(digits);
}

export function durationText(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

// Code with a button that copies it.
export function copyBlock(label, text) {
  const button = h("button", { type: "button", class: "small", "aria-label": `Copy: ${label}` }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code); // the browser does not let us; the person can, with one key
      button.textContent = "Press Ctrl-C";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  const code = h("code", {}, text);
  return h(
    "figure",
    { class: "copy" },
    h("figcaption", {}, label, button),
    h("pre", { tabindex: "0", "aria-label": label }, code),
  );
}

// Does something when a form is sent, once at a time; what goes wrong is said in `message`.
export function whenSent(form, button, message, action) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    clear(message);
    try {
      await action();
    } catch (error) {
      clear(message, notice(error.message, "error"));
    } finally {
      button.disabled = false;
    }
  });
}
