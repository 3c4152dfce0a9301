// The bench: specialists to tick, and the composite of those that are ticked.

import { get } from "../js/api.js";
import { clear, h, notice } from "../js/elements.js";
import { setParameters } from "../js/place.js";
import { demoOffer, runningDemo } from "./bench-demo.js";
import { fitTable } from "./bench-fits.js";
import { firstOfEach, groupPanel } from "./bench-group.js";
import { otherFiles } from "./bench-others.js";
import { resultPanel } from "./bench-result.js";

const SEPARATOR = "\n"; // no file in the folder has it in its name
const NONE = "none"; // in the address, where people have unticked all; files end in .safetensors

// Until something was chosen, all are ticked, also those that come later.
function readState(parameters) {
  const chosen = parameters.ticked === NONE ? "" : parameters.ticked;
  return {
    group: parameters.group ?? null,
    all: chosen === undefined,
    ticked: new Set((chosen ?? "").split(SEPARATOR).filter(Boolean)),
    method: parameters.method ?? "sum",
    look: parameters.look ?? null,
  };
}

function noteState({ group, all, ticked, method, look }) {
  setParameters("bench", {
    group,
    ticked: all ? null : [...ticked].join(SEPARATOR) || NONE,
    method: method === "sum" ? null : method,
    look,
  });
}

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
  async show(element, parameters) {
    const state = readState(parameters);
    const demo = h("div", { class: "bench-demo" });
    const body = h("div", {});
    element.append(h("h1", {}, "Bench"), demo, body);
    let closed = false;
    let training = false;
    let leave = () => {};

    function showParts(parts) {
      leave();
      const group = settle(state, parts);
      const look = (file) => {
        state.look = file;
        noteState(state);
        result.show();
      };
      const others = h("div", {}, otherFiles(parts, look));
      const showOthers = async () => clear(others, otherFiles(await get("/api/bench/parts"), look));
      const result = resultPanel(group, state, { onChange: () => noteState(state), onSaved: showOthers });
      noteState(state);
      if (!group) {
        clear(body, !training && demoOffer(handlers), others, parts.composites.length > 0 && result.element);
        leave = result.stop;
        result.show();
        return;
      }
      const fits = fitTable(group);
      const cards = groupPanel(parts, group, state, {
        onTick() {
          state.all = false;
          state.look = null;
          noteState(state);
          result.show();
        },
        onGroup(id) {
          Object.assign(state, { group: id, all: true, look: null });
          showParts(parts);
          body.querySelector(".bench-choice select").focus(); // a new one, in the place of the one just used
        },
      });
      cards.element.append(result.line);
      clear(
        body,
        h("div", { class: "bench-columns" }, cards.element, result.element, h("div", {}, fits.element, others)),
      );
      leave = () => [result, cards, fits].forEach((part) => part.stop());
      result.show().then(cards.measure).then(fits.fill); // what was asked for first
    }

    async function reload() {
      try {
        const parts = await get("/api/bench/parts");
        if (!closed) showParts(parts);
      } catch (error) {
        if (!closed) clear(body, notice(error.message, "error"));
      }
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
    return () => {
      closed = true;
      leave();
    };
  },
};
