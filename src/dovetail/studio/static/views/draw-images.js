// Test images, those that the composite finds hardest first; one at a time.

import { post } from "../js/api.js";
import { clear, h, notice } from "../js/elements.js";
import { setText, verdict } from "./draw-bars.js";
import { latestOnly } from "./draw-latest.js";
import { showPicture } from "./draw-pictures.js";

const whole = (number) => number.toLocaleString("en");

// `choice` has `place`, `class_id` (or null) and `mistakes`; `onShown(answer)` and `onChoice(choice)` tell the view.
export function makeImages(classes, ticked, choice, { canTake, onTake, onShown, onChoice }) {
  const picture = h("canvas", { class: "picture", role: "img" });
  const where = h("p", { class: "where" });
  const truth = h("p", { class: "truth", role: "status" });
  const about = h("p", { class: "quiet about" });
  const trouble = h("div", {});
  const step = (by) => () => go(choice.place + by);
  const previous = h("button", { type: "button", onclick: step(-1), title: "Key: ←" }, "Previous");
  const next = h("button", { type: "button", onclick: step(1), title: "Key: →" }, "Next");
  const take = h("button", { type: "button", onclick: () => onTake(picture) }, "Take it to the pad");
  const kind = h(
    "select",
    { onchange: () => choose({ class_id: kind.value === "" ? null : Number(kind.value) }) },
    h("option", { value: "" }, "All classes"),
    classes.map((name, place) => h("option", { value: String(place), selected: choice.class_id === place }, name)),
  );
  const mistakes = h("input", {
    type: "checkbox",
    checked: choice.mistakes,
    onchange: () => choose({ mistakes: mistakes.checked }),
  });

  const asking = latestOnly((body) => post("/api/draw/hardest", body), show, (error) => {
    clear(truth);
    clear(trouble, notice(error.message, "error"));
    onShown(null);
  });
  const ask = () => asking.ask({ ...ticked, ...choice });

  function choose(change) {
    Object.assign(choice, change, { place: 0 });
    onChoice(choice);
    ask();
  }

  function go(place) {
    if (place < 0 || place >= count) return;
    choice.place = place;
    onChoice(choice);
    ask();
  }

  let count = 0;
  function show(found, question) {
    if (question.place !== choice.place && found.image) return; // a later one is on its way
    count = found.count;
    choice.place = found.place;
    clear(trouble, found.note && notice(found.note));
    const looked = found.samples === found.total ? "all" : `${whole(found.samples)} of`;
    setText(about, `Worst first, on ${looked} ${whole(found.total)} test images; ${whole(found.mistakes)} mistakes.`);
    setText(where, count ? `${whole(found.place + 1)} of ${whole(count)}` : "None");
    previous.disabled = found.place === 0;
    next.disabled = found.place + 1 >= count;
    take.disabled = picture.hidden = !found.image;
    if (found.image) showImage(found.image);
    else setText(truth, "There is no such image.");
    onShown(found.image);
    if (found.samples < found.total) ask();
  }

  function showImage(image) {
    showPicture(picture, image.picture);
    picture.setAttribute("aria-label", `Test image of class ${classes[image.truth]}`);
    const { decided, winner } = image.composite;
    const judged = image.known && (decided || winner !== image.truth); // undecided, but not mistaken: neither
    const says = h("b", { class: judged ? (winner === image.truth ? "good" : "bad") : null }, verdict(image.composite, classes));
    clear(
      truth,
      "True class ",
      h("b", {}, classes[image.truth]),
      image.known ? ", the composite " : ", which no one here knows; the composite ",
      decided ? "says " : "is ",
      says,
      ` (loss ${image.loss.toFixed(2)}).`,
    );
  }

  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, textarea")) return;
    if (event.key === "ArrowLeft") go(choice.place - 1);
    else if (event.key === "ArrowRight") go(choice.place + 1);
    else return;
    event.preventDefault();
  };
  document.addEventListener("keydown", keys);
  previous.disabled = next.disabled = take.disabled = true;
  setText(truth, "Looking at the test images…");
  ask();
  return {
    element: h(
      "div",
      { class: "images" },
      picture,
      truth,
      h("div", { class: "row" }, previous, where, next),
      h("div", { class: "row" }, h("label", {}, "Class ", kind), h("label", {}, mistakes, " Only mistakes")),
      canTake && h("div", { class: "row" }, take),
      about,
      trouble,
    ),
    end() {
      asking.end();
      document.removeEventListener("keydown", keys);
    },
  };
}
