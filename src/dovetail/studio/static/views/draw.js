// Draw: a pad, and the test images; what each specialist and the composite say to them.

import { get, post } from "../js/api.js";
import { clear, emptyState, h, notice } from "../js/elements.js";
import { choose, placeOf, setParameters } from "../js/place.js";
import { makeDrawing } from "./draw-drawing.js";
import { makeImages } from "./draw-images.js";
import { makeOutputs } from "./draw-outputs.js";

export const view = {
  title: "Draw",
  async show(element, parameters) {
    const { groups, side } = await get("/api/draw/parts");
    element.append(h("h1", {}, "Draw"));
    if (!groups.length) {
      const way = h("a", { href: placeOf("bench") }, "Train some on the bench");
      element.append(emptyState("There are no specialists in this folder.", way));
      return undefined;
    }
    return new DrawView(element, groups, side, parameters).start();
  },
};

class DrawView {
  constructor(element, groups, side, parameters) {
    this.groups = groups;
    this.side = side;
    this.chosen = groups.find(({ group }) => group.id === parameters.group) ?? groups[0];
    this.choice = {
      place: Math.max(0, Math.trunc(Number(parameters.place)) || 0),
      class_id: classNumber(parameters.class, this.chosen.group.classes),
      mistakes: parameters.mistakes === "yes",
    };
    this.showsImages = parameters.show === "images";
    this.takeFrom(parameters);
    this.head = h("div", { class: "row head" });
    this.source = h("section", { class: "card source" });
    this.answer = h("section", { class: "card answer-card", "aria-label": "Answer" });
    this.results = h("div", { class: "results" });
    this.said = null; // by the pad's networks, or of the test image
    element.append(this.head, h("div", { class: "draw-columns" }, this.answer, this.source, this.results));
  }

  start() {
    this.build();
    this.isShown = true;
    return () => this.end();
  }

  // The group's specialists that take part, and how, as the address has them.
  takeFrom({ files = undefined, method = undefined }) {
    const { group, first } = this.chosen;
    const wanted = files === undefined ? first : files.split("\n"); // no name has a line break in it
    this.ticked = new Set(group.specialists.map(({ file }) => file).filter((file) => wanted.includes(file)));
    this.method = group.methods.some(({ name }) => name === method) ? method : group.methods[0].name;
  }

  asked() {
    return { files: [...this.ticked], method: this.method };
  }

  note() {
    const { group, first } = this.chosen;
    const files = [...this.ticked].join("\n");
    const note = this.isShown ? choose : setParameters; // what is shown first was no choice
    note("draw", {
      group: this.chosen === this.groups[0] ? null : group.id,
      method: this.method === group.methods[0].name ? null : this.method,
      files: files === first.join("\n") ? null : files || "\n",
      show: this.showsImages ? "images" : null,
      place: this.showsImages ? this.choice.place || null : null,
      class: this.choice.class_id === null ? null : group.classes[this.choice.class_id],
      mistakes: this.choice.mistakes ? "yes" : null,
    });
  }

  // Everything anew; what is on the pad stays.
  build() {
    this.end();
    this.said = null; // these have other classes
    const { group, pad, images } = this.chosen;
    this.showsImages = images && (this.showsImages || !pad);
    const answered = (said) => this.showsImages || this.show(said);
    const say = (ink) => post("/api/draw/drawing", { ...this.asked(), ink });
    this.drawing = pad ? makeDrawing(this.side, say, answered) : null;
    this.buildHead();
    this.buildOutputs();
    if (!images) {
      const why = `${group.data.name} holds no images, so there is nothing to draw.`;
      clear(this.source, notice(`${why} Measure these specialists on the bench, or choose others.`));
      clear(this.results);
      this.answer.hidden = true;
    } else {
      this.buildSource();
    }
    this.note();
  }

  buildHead() {
    const { group, pad, images } = this.chosen;
    const groupBox = h(
      "select",
      { onchange: () => this.useGroup(groupBox.value) },
      this.groups.map((one) => h("option", { value: one.group.id, selected: one === this.chosen }, one.group.title)),
    );
    const methodBox = h(
      "select",
      { onchange: () => this.useMethod(methodBox.value) },
      group.methods.map(({ name, title, about }) =>
        h("option", { value: name, title: about, selected: name === this.method }, title),
      ),
    );
    const tab = (title, showsImages) => {
      const pressed = String(this.showsImages === showsImages);
      return h("button", { type: "button", "aria-pressed": pressed, onclick: () => this.switchTo(showsImages) }, title);
    };
    const tabs = [tab("Pad", false), tab("Test images", true)];
    clear(
      this.head,
      pad && h("div", { class: "tabs", role: "group", "aria-label": "What to look at" }, tabs),
      this.groups.length > 1 && h("label", {}, "Specialists ", groupBox),
      images && h("label", {}, "Method ", methodBox),
    );
  }

  buildSource() {
    this.images?.end();
    this.images = null;
    if (!this.ticked.size) {
      clear(this.source, notice("Tick at least one specialist."));
    } else if (!this.showsImages) {
      clear(this.source, this.drawing.element);
      this.drawing.ask();
    } else {
      this.images = makeImages(this.chosen.group.classes, this.asked(), this.choice, {
        canTake: this.chosen.pad,
        onTake: (picture) => this.take(picture),
        onShown: (image) => this.show(image),
        onChoice: () => this.note(),
      });
      clear(this.source, this.images.element);
    }
  }

  buildOutputs() {
    const onTick = (file, on) => this.tick(file, on);
    this.outputs = makeOutputs(this.chosen.group, this.ticked, this.method, onTick, this.said);
    this.answer.hidden = false;
    clear(this.answer, this.outputs.heading);
    clear(this.results, this.outputs.element);
  }

  show(said) {
    this.said = said;
    this.outputs.set(said);
  }

  // The same place with other specialists or another method: the drawing stays.
  again() {
    this.buildOutputs();
    this.buildSource();
    this.note();
  }

  tick(file, on) {
    const names = this.chosen.group.specialists.map((one) => one.file);
    this.ticked = new Set(names.filter((name) => (name === file ? on : this.ticked.has(name))));
    this.again();
    const cards = [...this.results.querySelectorAll(".specialist")]; // made anew: the box has lost the focus
    cards.find((card) => card.dataset.file === file).querySelector("input").focus();
  }

  useMethod(method) {
    this.method = method;
    this.again();
  }

  useGroup(id) {
    this.chosen = this.groups.find(({ group }) => group.id === id);
    Object.assign(this.choice, { place: 0, class_id: null, mistakes: false });
    this.takeFrom({});
    this.build();
  }

  switchTo(showsImages) {
    this.showsImages = showsImages;
    this.show(null);
    this.buildHead();
    this.buildSource();
    this.note();
    this.head.querySelector("[aria-pressed=true]").focus();
  }

  // The picture is the pad's from now on: the test images get a new one when they are shown again.
  take(picture) {
    this.drawing.put(picture);
    this.switchTo(false);
  }

  end() {
    this.drawing?.end();
    this.images?.end();
    this.drawing = this.images = null;
  }
}

function classNumber(name, classes) {
  const place = classes.indexOf(name);
  return place < 0 ? null : place;
}
