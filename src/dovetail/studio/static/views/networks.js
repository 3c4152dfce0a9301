// Networks: choose a file, and look into the network in it.

import { get } from "../js/api.js";
import { clear, emptyState, h, notice } from "../js/elements.js";
import { choose, setParameters } from "../js/place.js";
import { networkPicture } from "./networks-picture.js";

const INTRO =
  "Look into a sculpture or any checkpoint: its layers and the edges that are left, its modules, what each unit reads, " +
  "and which outputs break without a module.";

const KINDS = ["sculpture", "specialist or composite", "checkpoint", "modules"];

export const view = {
  title: "Networks",
  async show(element, parameters) {
    const { files, complete } = await get("/api/networks/files");
    const good = files.filter((file) => !file.problem);
    const box = h("div", { class: "networks-shown" });
    const first = good.find((file) => file.kind === "sculpture") ?? good[0];
    let place = { ...parameters, file: parameters.file ?? first?.name };
    let turn = 0; // which question is the latest; the answer to an earlier one comes too late

    // What is shown stands in the address, so that a reload keeps it.
    const remember = (values, note = setParameters) => {
      place = { ...place, ...values };
      note("networks", place);
    };

    async function open(values) {
      remember(values, turn ? choose : setParameters); // what is shown first was no choice
      const mine = ++turn;
      box.setAttribute("aria-busy", "true");
      if (!box.hasChildNodes()) clear(box, h("p", { class: "quiet" }, `Opening ${place.file} …`));
      try {
        const { file, grouping, clusters, strongest } = place;
        const picture = await get("/api/networks/open", { file, grouping, clusters, strongest });
        if (mine === turn) clear(box, networkPicture(picture, place, { open, remember }));
      } catch (error) {
        if (mine === turn) clear(box, notice(error.message, "error"));
      }
      if (mine === turn) box.removeAttribute("aria-busy");
    }

    const chooser = fileChooser(good, place.file, (file) =>
      open({ file, grouping: null, clusters: null, strongest: null, open: null, out: null, unit: null }),
    );
    clear(
      element,
      h("h1", {}, "Networks"),
      h("p", {}, INTRO),
      good.length || place.file
        ? [chooser, problems(files), complete ? null : notice("There are more files than are listed here.")]
        : [emptyState("There is no network in this folder.", h("code", {}, "dovetail sculpt '[4,2,4]' -o run")), problems(files)],
      box,
    );
    if (place.file) await open({});
  },
};

function fileChooser(files, chosen, onChoose) {
  const kinds = KINDS.filter((kind) => files.some((file) => file.kind === kind));
  const option = (file) => h("option", { value: file.name, selected: file.name === chosen }, file.name);
  const select = h(
    "select",
    { id: "networks-file", onchange: () => onChoose(select.value) },
    // The address may name a file that is gone or broken; then the answer says so.
    chosen && !files.some((file) => file.name === chosen) && option({ name: chosen }),
    kinds.map((kind) => h("optgroup", { label: kind }, files.filter((file) => file.kind === kind).map(option))),
  );
  return h("p", { class: "row" }, h("label", { for: "networks-file" }, "File"), select);
}

function problems(files) {
  const broken = files.filter((file) => file.problem);
  if (!broken.length) return null;
  const title = broken.length === 1 ? "1 file cannot be opened" : `${broken.length} files cannot be opened`;
  const entry = (file) => h("li", {}, h("code", {}, file.name), ` ${file.problem}`);
  return h("details", { class: "quiet" }, h("summary", {}, title), h("ul", {}, broken.map(entry)));
}
