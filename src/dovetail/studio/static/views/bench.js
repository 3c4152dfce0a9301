// The bench: specialists to tick, and the composite of those that are ticked.

import { get } from "../js/api.js";
import { clear, h, notice } from "../js/elements.js";
import { choose, setParameters } from "../js/place.js";
import { onFolderChange } from "../js/pulse.js";
import { comparePanel } from "./bench-compare.js";
import { demoOffer, runningDemo } from "./bench-demo.js";
import { fitTable } from "./bench-fits.js";
import { firstOfEach, groupPanel } from "./bench-group.js";
import { otherFiles } from "./bench-others.js";
import { resultPanel } from "./bench-result.js";

const SEPARATOR = "\n"; // no file in the folder has it in its name
const AS_IT_IS = "look"; // in the place of a method, for a file that was kept beside
const NONE = "none"; // in the address, where people have unticked all; files end in .safetensors

const namesIn = (text) => (text ?? "").split(SEPARATOR).filter(Boolean);

// Until something was chosen, all are ticked, also those that come later.
function readState(parameters) {
  const [method, ...files] = namesIn(parameters.beside);
  return {
    group: parameters.group ?? null,
    all: parameters.ticked === undefined,
    ticked: new Set(namesIn(parameters.ticked === NONE ? "" : parameters.ticked)),
    method: parameters.method ?? "sum",
    look: parameters.look ?? null,
    beside: files.length ? { files, method: method === AS_IT_IS ? null : method } : null,
  };
}

const parametersOf = ({ group, all, ticked, method, look, beside }) => ({
  group,
  ticked: all ? null : [...ticked].join(SEPARATOR) || NONE,
  method: method === "sum" ? null : method,
  look,
  beside: beside && [beside.method ?? AS_IT_IS, ...beside.files].join(SEPARATOR),
});

// What is shown must be there: a group and files that are gone since are forgotten.
function settle(state, parts) {
  const groups = parts.groups;
  const ofTicked = groups.find((group) => group.specialists.some((part) => state.ticked.has(part.file)));
  const group = groups.find((one) => one.id === state.group) ?? ofTicked ?? groups[0] ?? null;
  const files = group ? group.specialists.map((part) => part.file) : [];
  state.group = group?.id ?? null;
  state.ticked = state.all ? firstOfEach(group) : new Set(files.filter((file) => state.ticked.has(file)));
  if (group && !group.methods.some((method) => method.name === state.method)) state.method = "sum";
  if (!parts.composites.some((part) => part.file === state.look)) state.look = null;
  return group;
}

export const view = {
  title: "Bench",
  watches: true,
  async show(element, parameters) {
    const state = readState(parameters);
    const demo = h("div", { class: "bench-demo" });
    const body = h("div", {});
    const beside = comparePanel(() => keep(null));
    element.append(h("h1", {}, "Bench"), demo, beside.element, body);
    let closed = false;
    let training = false;
    let leave = () => {};
    let shown = null; // what the folder has, and what is made of it
    let follow = () => {};
    let showOthers = (_) => {};

    const note = () => setParameters("bench", parametersOf(state));
    const chosen = () => choose("bench", parametersOf(state));

    function keep(what) {
      state.beside = what;
      chosen();
      beside.show(what);
    }

    function showParts(parts) {
      leave();
      shown = parts;
      const group = settle(state, parts);
      const look = (file) => {
        state.look = file;
        chosen();
        result.show();
      };
      const others = h("div", {}, otherFiles(parts, look));
      showOthers = (now) => clear(others, otherFiles(now, look));
      const result = resultPanel(group, state, { onChange: chosen, onSaved: reload, onKeep: keep, onMeasured: beside.set });
      note();
      if (!group) {
        clear(body, !training && demoOffer(handlers), others, parts.composites.length > 0 && result.element);
        leave = result.stop;
        follow = () => result.show();
        result.show();
        return;
      }
      const fits = fitTable(group);
      const cards = groupPanel(parts, group, state, {
        onTick() {
          state.all = false;
          state.look = null;
          chosen();
          result.show();
        },
        onGroup(id) {
          Object.assign(state, { group: id, all: true, look: null });
          chosen();
          showParts(parts);
          body.querySelector(".bench-choice select").focus(); // a new one, in the place of the one just used
        },
      });
      cards.element.append(result.line);
      clear(
        body,
        h("div", { class: "bench-columns" }, cards.element, result.element, h("div", {}, fits.element, others)),
      );
      leave = () => {
        for (const part of [result, cards, fits]) part.stop();
      };
      follow = () => {
        cards.sync();
        result.show();
      };
      result.show().then(cards.measure).then(fits.fill); // what was asked for first
    }

    async function reload() {
      try {
        const parts = await get("/api/bench/parts");
        if (closed) return;
        // What stays as it was is not made anew: somebody may be typing in it.
        const isSame = JSON.stringify(parts.groups) === JSON.stringify(shown?.groups);
        if (isSame && parts.groups.length) showOthers(parts);
        else showParts(parts);
      } catch (error) {
        if (!closed) clear(body, notice(error.message, "error"));
      }
    }

    // A step back or forward: what is there already follows it.
    function change(other) {
      const { group } = state;
      Object.assign(state, readState(other));
      settle(state, shown);
      if (state.group === group) follow();
      else showParts(shown);
      beside.show(state.beside);
    }

    const handlers = {
      reload,
      started(panel) {
        training = true;
        clear(demo, panel);
        reload();
      },
      ended(job) {
        training = false;
        if (job.state === "done") {
          if (demo.contains(document.activeElement)) element.closest("main").focus({ preventScroll: true });
          clear(demo);
        }
        reload();
      },
    };
    const panel = await runningDemo(handlers);
    if (panel) {
      training = true;
      demo.append(panel);
    }
    await reload();
    beside.show(state.beside);
    const deaf = onFolderChange(["weights"], reload);
    return {
      change,
      end() {
        closed = true;
        deaf();
        leave();
        beside.stop();
      },
    };
  },
};
