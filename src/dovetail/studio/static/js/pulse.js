// What the frame around the views shows of the studio: whether it answers, which jobs run, and that the folder changed.

import { get } from "./api.js";
import { clear, h, notice } from "./elements.js";
import { placeOf } from "./place.js";
import { poll } from "./poll.js";

const PAUSE = 2000;

const PLACES = {
  audit: ({ id }) => placeOf("audit", { job: id }),
  recipe: () => placeOf("runs"),
};

// Others are called as their view, or else belong to the first.
function placeOfJob(job) {
  const isView = document.querySelector(`nav [data-view="${CSS.escape(job.kind)}"]`);
  return PLACES[job.kind]?.(job) ?? placeOf(isView ? job.kind : "bench");
}

const howFar = ({ done, total }) => (total ? `${Math.floor((100 * done) / total)} %` : "starting");

const jobLink = (job) => h("a", { href: placeOfJob(job), title: job.note || null }, `${job.title}: ${howFar(job)}`);

// Says what the studio's state is in two places of the page, and tells the page of changes in the folder: by a
// "folderchange", whose `detail` has the kinds of files that are not as they were.
export function watchStudio(running, trouble) {
  let known = null;
  let shown = "";
  let silent = false;

  function show(jobs) {
    const links = jobs.map(jobLink);
    const now = links.map((link) => link.outerHTML).join();
    if (now === shown) return;
    shown = now;
    running.hidden = !jobs.length;
    const focus = running.contains(document.activeElement) && document.activeElement.getAttribute("href");
    clear(running, links);
    if (focus) links.find((link) => link.getAttribute("href") === focus)?.focus();
  }

  function tellChanges(files) {
    const changed = Object.keys(files).filter((kind) => known && known[kind] !== files[kind]);
    known = files;
    if (changed.length) document.dispatchEvent(new CustomEvent("folderchange", { detail: changed }));
  }

  return poll(async () => {
    try {
      const { jobs, files } = await get("/api/pulse");
      if (silent) clear(trouble);
      silent = false;
      show(jobs);
      tellChanges(files);
    } catch (error) {
      const text = error.status === 403 ? "This page belongs to a studio that has ended; open the address of the new one." : error.message;
      if (!silent) clear(trouble, notice(text, "error"));
      silent = true;
      show([]);
    }
  }, PAUSE);
}

// Calls `action` when files of these kinds have come, gone or changed; returns what ends it.
export function onFolderChange(kinds, action) {
  const hear = (event) => {
    if (event.detail.some((kind) => kinds.includes(kind))) action();
  };
  document.addEventListener("folderchange", hear);
  return () => document.removeEventListener("folderchange", hear);
}
