// Grow: a class that a composite has never heard of, drawn a few times and taught live, or read from data in the folder.

import { get, post } from "../js/api.js";
import { clear, emptyState, h } from "../js/elements.js";
import { jobPanel } from "../js/job.js";
import { placeOf, setParameters } from "../js/place.js";
import { entropyText, percent, setText, verdict, wideBars } from "./draw-bars.js";
import { makeDrawing } from "./draw-drawing.js";
import { makeData } from "./grow-data.js";
import { makeLesson } from "./grow-lesson.js";
import { growOutcome } from "./grow-outcome.js";

const INTRO =
  "Draw a sign that nobody here knows, at least three times, name it, and teach it: a specialist of its own is trained beside " +
  "the others, which learn to stay undecided on it. Their samples are not needed, and no file is changed.";

export const view = {
  title: "Grow",
  async show(element, parameters) {
    element.classList.add("draw"); // the pad and the bars are those of Draw
    const places = await get("/api/grow/places");
    element.append(h("h1", {}, "Grow"), h("p", {}, INTRO));
    if (!places.bases.length) {
      const way = h("a", { href: placeOf("bench") }, "Train some on the bench");
      element.append(emptyState("There are no specialists in this folder that a class could be added to.", way));
      return undefined;
    }
    const shown = new GrowView(element, places, parameters);
    await shown.followRunning();
    return () => shown.end();
  },
};

class GrowView {
  constructor(element, places, parameters) {
    this.places = places;
    this.usual = places.bases[0].title;
    this.base = places.bases.find(({ title }) => title === parameters.of) ?? places.bases[0];
    this.without = new Set((parameters.without ?? "").split("\n").filter((name) => this.base.classes.includes(name)));
    this.head = h("div", { class: "row head" });
    this.source = h("section", { class: "card source", "aria-label": "Teaching" });
    this.answer = h("section", { class: "card answer-card", "aria-label": "Answer" });
    this.results = h("div", { class: "results grow-results" });
    this.work = h("div", { class: "grow-work" });
    element.append(this.head, h("div", { class: "draw-columns" }, this.answer, this.source, this.results));
    this.drawing = makeDrawing(
      places.side,
      (ink) => post("/api/grow/ask", { files: this.base.files, without: [...this.without], ink }),
      (heard) => this.show(heard),
    );
    this.lesson = makeLesson(this.drawing, places, (body) => this.start("/api/grow/teach", body));
    this.data = makeData(places.data, (body) => this.start("/api/grow/add", body));
    this.build();
  }

  build() {
    const { base } = this;
    const box = h(
      "select",
      { onchange: () => this.use(this.places.bases.find(({ title }) => title === box.value)) },
      this.places.bases.map((one) => h("option", { value: one.title, selected: one === base }, one.title)),
    );
    clear(this.head, h("label", {}, "Grow ", box));
    clear(this.source, base.pad ? [this.drawing.element, this.lesson.element] : null, this.data.element);
    this.says = h("p", { class: "says" });
    this.word = h("strong", { class: "answer", role: "status", "aria-label": "The composite says" });
    this.detail = h("span", { class: "quiet" });
    this.says.append(this.word, this.detail);
    this.answer.hidden = !base.pad;
    clear(this.answer, h("h2", {}, `Knows ${base.classes.length - this.without.size}`), this.says);
    const known = new Set(base.classes.keys());
    this.bars = wideBars(base.classes, known);
    clear(
      this.results,
      this.work,
      base.pad && h("section", { class: "card composite", "aria-label": "Composite" }, this.bars.element),
      this.takingPart(),
    );
    this.note();
    if (base.pad) this.drawing.ask();
  }

  // A class that is unticked is dropped: the composite is what it would be had its specialist not been added.
  takingPart() {
    const boxes = this.base.classes.map((name) => {
      const box = h("input", { type: "checkbox", checked: !this.without.has(name), onchange: () => this.drop(name, !box.checked) });
      return h("label", {}, box, ` ${name}`);
    });
    return h("fieldset", { class: "card grow-classes" }, h("legend", {}, "Classes that take part; untick one to drop it"), boxes);
  }

  drop(name, gone) {
    if (gone) this.without.add(name);
    else this.without.delete(name);
    this.note();
    setText(this.answer.querySelector("h2"), `Knows ${this.base.classes.length - this.without.size}`);
    if (this.base.pad) this.drawing.ask();
  }

  note() {
    const { title } = this.base;
    setParameters("grow", { of: title === this.usual ? null : title, without: [...this.without].join("\n") });
  }

  // The composite's classes may be in another order than those that are shown, and fewer.
  show(heard) {
    if (!heard) {
      this.lesson.changed();
      this.bars.set(null);
      setText(this.word, "");
      setText(this.detail, "");
      return;
    }
    this.lesson.changed();
    const { said, classes } = heard;
    const places = this.base.classes.map((name) => classes.indexOf(name));
    const shares = places.map((place) => said.probabilities[place] ?? 0);
    this.bars.set({ ...said, probabilities: shares, winner: places.indexOf(said.winner) });
    setText(this.word, verdict(said, classes));
    const share = percent(said.probabilities[said.winner]);
    const nearest = said.decided ? share : `nearest ${classes[said.winner]} with ${share}`;
    setText(this.detail, `${nearest}, ${entropyText(said, classes)}`);
  }

  use(base) {
    this.base = base;
    this.without.clear();
    clear(this.work);
    this.build();
  }

  async start(path, body) {
    const begun = this.lesson.lastStroke();
    this.follow(await post(path, { files: this.base.files, ...body }), path.endsWith("teach") ? begun : null);
  }

  async followRunning() {
    const jobs = await get("/api/jobs");
    const job = jobs.find((one) => one.kind === "grow" && one.state === "running");
    if (job) this.follow(job, null);
  }

  // `begun` is when the last stroke was drawn, if it was drawn here.
  follow(job, begun) {
    let taught = null;
    const outcome = h("div", {});
    const panel = jobPanel(job, {
      onChange: (now) => {
        const found = now.result ?? now.partial;
        if (!found) return;
        if (!taught) {
          taught = { ...found, after: begun === null ? null : (performance.now() - begun) / 1000 };
          this.useTaught(found);
        }
        clear(outcome, growOutcome({ ...found, after: taught.after }));
      },
      onDone: (now) => {
        if (now.state === "done") panel.hidden = true;
      },
    });
    clear(this.work, panel, outcome);
    this.results.prepend(this.work);
  }

  // What was just taught takes the place of what it was taught to; the pad is free to try it.
  useTaught({ file, classes }) {
    const base = { title: file, files: [file], classes, pad: this.base.pad };
    this.places.bases = [base, ...this.places.bases.filter(({ title }) => title !== file)];
    this.base = base;
    this.without.clear();
    this.lesson.forget();
    this.build();
  }

  end() {
    this.drawing.end();
  }
}
