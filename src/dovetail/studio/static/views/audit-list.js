// The audits that can be looked at: those of this session, and those that are saved in the folder; some can be ticked to
// be looked at side by side.

import { clear, h } from "../js/elements.js";
import { goTo, placeOf } from "../js/place.js";

export const SEPARATOR = "\n"; // no folder has it in its name

// `current` is what is shown: { job } or { saved }, or what is compared: { compare }, all as in the address.
export function auditList(current) {
  const element = h("nav", { "aria-label": "Audits" });
  const ticked = new Set((current.compare ?? "").split(SEPARATOR).filter(Boolean));
  const button = h("button", { type: "button", onclick: () => goTo("audit", { compare: [...ticked].join(SEPARATOR) }) }, "Compare");
  let shown = "";

  function entry({ name, place, title, about, canCompare }) {
    const tick = h("input", { type: "checkbox", checked: ticked.has(name), disabled: !canCompare, "aria-label": `Compare ${title}` });
    tick.addEventListener("change", () => {
      if (tick.checked) ticked.add(name);
      else ticked.delete(name);
      button.disabled = ticked.size < 2;
    });
    const isShown = Object.entries(place).every(([key, value]) => current[key] === value);
    const link = h("a", { href: placeOf("audit", place), "aria-current": isShown ? "true" : null }, title);
    return h("li", {}, tick, h("span", {}, link, " ", h("span", { class: "quiet" }, about)));
  }

  const ofJob = (job) => ({
    name: `job:${job.id}`,
    place: { job: job.id },
    title: job.title,
    about: `${new Date(job.started * 1000).toLocaleTimeString()}, ${job.state}`,
    canCompare: job.state === "done",
  });
  const ofFolder = ({ folder, modified }) => ({
    name: `saved:${folder}`,
    place: { saved: folder },
    title: folder,
    about: new Date(modified * 1000).toLocaleString(),
    canCompare: true,
  });

  function section(title, entries) {
    return entries.length > 0 && [h("h2", {}, title), h("ul", { class: "audit-list" }, entries.map(entry))];
  }

  // Called anew when a job has come or ended, or a folder: what is ticked stays, and so does the focus where nothing is new.
  function show(jobs, saved, now = current) {
    Object.assign(current, now);
    const entries = [jobs.map(ofJob), saved.map(ofFolder)];
    const text = JSON.stringify([entries, current]);
    if (text === shown) return;
    shown = text;
    const names = entries.flat().filter(({ canCompare }) => canCompare).map(({ name }) => name);
    for (const name of ticked) if (!names.includes(name)) ticked.delete(name);
    button.disabled = ticked.size < 2;
    clear(
      element,
      section("Audits of this session", entries[0]),
      section("Saved audits", entries[1]),
      names.length > 1 && h("p", { class: "row" }, button, h("span", { class: "quiet" }, "Tick two or more.")),
    );
  }

  return { element, show };
}
