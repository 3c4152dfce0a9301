// The pad with its buttons, what the networks see of it, and their answers while one draws.

import { clear, h, notice } from "../js/elements.js";
import { keepMarks, keptMarks } from "./draw-kept.js";
import { latestOnly } from "./draw-latest.js";
import { makePad } from "./draw-pad.js";
import { showNothing, showPicture } from "./draw-pictures.js";

// `say(ink)` asks for an answer, which has what is `seen`; `onSaid(answer)` gets each, and null for an empty pad.
export function makeDrawing(side, say, onSaid) {
  const seen = h("canvas", { class: "seen", role: "img", "aria-label": "What the networks see" });
  const trouble = h("div", {});
  const asking = latestOnly(
    say,
    (drawn) => {
      if (isBlank) return; // cleared while the answer was on its way
      clear(trouble);
      showPicture(seen, drawn.seen);
      onSaid(drawn);
    },
    (error) => clear(trouble, notice(error.message, "error")),
  );

  let isBlank = true;
  const onMarks = () => {
    keepMarks(pad.marks());
    ask();
  };
  const pad = makePad(side, onMarks, keptMarks());
  const undo = h("button", { type: "button", onclick: pad.undo }, "Undo");
  const empty = h("button", { type: "button", onclick: pad.clear }, "Clear");

  function ask() {
    const ink = pad.ink();
    isBlank = ink === null;
    undo.disabled = empty.disabled = pad.isEmpty();
    if (isBlank) {
      asking.forget();
      clear(trouble);
      showNothing(seen);
      onSaid(null);
    } else {
      asking.ask(ink);
    }
  }

  return {
    ask,
    put: pad.put,
    ink: pad.ink,
    clear: pad.clear,
    element: h(
      "div",
      { class: "drawing" },
      pad.element,
      h(
        "div",
        { class: "row tools" },
        undo,
        empty,
        h("figure", { class: "sees" }, h("figcaption", { class: "quiet" }, "What the networks see"), seen),
      ),
      h(
        "p",
        { class: "quiet how", id: "pad-keys" },
        "Draw with a mouse, a pen or a finger. By keyboard: arrow keys move the pen (with Shift, in small steps), ",
        "the space bar puts it down and lifts it, Ctrl-Z takes back a stroke.",
      ),
      trouble,
    ),
    end() {
      asking.end();
      pad.stop();
    },
  };
}
