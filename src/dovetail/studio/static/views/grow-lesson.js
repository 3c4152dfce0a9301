// A lesson: drawings of a new sign, kept one by one, its name, and the button that teaches it.

import { post } from "../js/api.js";
import { clear, h, whenSent } from "../js/elements.js";
import { setText } from "./draw-bars.js";
import { showPicture } from "./draw-pictures.js";

// `onTeach({ name, inks })` is called when there is enough.
export function makeLesson(drawing, { side, fewest, most }, onTeach) {
  let inks = [];
  let lastInk = null;
  let lastStroke = null;
  const list = h("ol", { class: "grow-examples", "aria-label": "Examples" });
  const how = h("p", { class: "quiet", role: "status" });
  const keep = h("button", { type: "button", onclick: keepOne }, "Keep as example");
  const name = h("input", { id: "grow-name", maxlength: 40, placeholder: "star", autocomplete: "off", oninput: refresh });
  const teach = h("button", { type: "submit", class: "primary" }, "Teach");
  const message = h("div", {});
  const form = h(
    "form",
    { class: "grow-lesson" },
    list,
    how,
    h("div", { class: "row" }, keep),
    h("div", { class: "row" }, h("label", { for: "grow-name" }, "Name"), name, teach),
    message,
  );
  whenSent(form, teach, message, async () => {
    if (canTeach()) await onTeach({ name: name.value.trim(), inks: all() });
  });

  // What is on the pad counts as the last example.
  const all = () => (lastInk ? [...inks, lastInk] : inks);
  const canTeach = () => all().length >= fewest && name.value.trim() !== "";

  function keepOne() {
    if (!inks.length) post("/api/grow/prepare").catch(() => {}); // what it takes to teach is there when one has drawn them all
    inks.push(lastInk);
    drawing.clear();
  }

  function refresh() {
    clear(list, inks.map((ink, number) => h("li", {}, example(ink, number))));
    keep.disabled = !lastInk || inks.length + 1 >= most;
    teach.disabled = !canTeach();
    const count = all().length;
    const missing = count < fewest ? `${fewest - count} more to draw.` : name.value.trim() ? "Ready to teach." : "Give it a name.";
    setText(how, `${count} drawn${lastInk ? ", with what is on the pad" : ""}. ${missing}`);
  }

  function example(ink, number) {
    const canvas = h("canvas", {});
    showPicture(canvas, { width: side, height: side, channels: 1, pixels: ink });
    const label = `Take out example ${number + 1}`;
    const takeOut = () => {
      inks = inks.filter((_, other) => other !== number);
      refresh();
    };
    return h("button", { type: "button", "aria-label": label, title: label, onclick: takeOut }, canvas);
  }

  refresh();
  return {
    element: form,
    lastStroke: () => lastStroke,
    // The pad has changed.
    changed() {
      const ink = drawing.ink();
      if (ink && ink !== lastInk) lastStroke = performance.now();
      lastInk = ink;
      refresh();
    },
    // All was taught: the next sign begins with an empty pad.
    forget() {
      inks = [];
      name.value = "";
      drawing.clear();
    },
  };
}
