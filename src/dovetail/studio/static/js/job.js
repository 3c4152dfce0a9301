// Long work that runs beside the server: how far it is, and a button to cancel it.

import { get, remove } from "./api.js";
import { clear, durationText, h, notice } from "./elements.js";
import { poll } from "./poll.js";

const PAUSE = 400;
const LONGEST_PAUSE = 6400;

const ignore = (_) => {};

// Calls onChange with the job now and then until it has ended; returns a function that stops watching. When there is
// no answer, onSilence is called with why, and it asks again, more and more seldom: the job may be as well as ever.
export function watchJob(id, onChange, onSilence = ignore) {
  let ended = false;
  let pause = PAUSE;
  async function look() {
    let job = null;
    try {
      job = await get(`/api/jobs/${encodeURIComponent(id)}`);
      pause = PAUSE;
    } catch (error) {
      const isRefused = error.status >= 400 && error.status < 500; // it is gone, or this is another studio
      if (isRefused) job = { id, state: "failed", error: error.message, partial: null, result: null };
      else if (!ended) onSilence(error.message);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
    if (ended) return false;
    if (job) onChange(job);
    return !job || job.state === "running" ? pause : false;
  }
  const stop = poll(look, PAUSE);
  return () => {
    ended = true;
    stop();
  };
}

// A panel that follows a job while it is on the page. `onChange` gets every state, `onDone` the last one.
export function jobPanel(job, { onChange = ignore, onDone = ignore } = {}) {
  const bar = h("progress", { "aria-label": job.title });
  const note = h("span", { class: "quiet" });
  const cancel = h("button", { type: "button" }, "Cancel");
  const message = h("div", { "aria-live": "polite" });
  const panel = h(
    "section",
    { class: "card job", tabindex: "-1", "aria-label": job.title },
    h("div", { class: "row" }, h("strong", {}, job.title), h("span", { class: "grow" }), cancel),
    bar,
    note,
    message,
  );
  // A button that is disabled would lose the focus; this one only does nothing the second time.
  const setCancelling = (on) => (on ? cancel.setAttribute("aria-disabled", "true") : cancel.removeAttribute("aria-disabled"));
  cancel.addEventListener("click", async () => {
    if (cancel.hasAttribute("aria-disabled")) return;
    setCancelling(true);
    try {
      await remove(`/api/jobs/${encodeURIComponent(job.id)}`);
    } catch (error) {
      clear(message, notice(error.message, "error"));
      setCancelling(false);
    }
  });

  let silent = false;
  function showSilence(reason) {
    if (!silent) clear(message, notice(`${reason} Asking again…`));
    silent = true;
  }

  function show(now) {
    const running = now.state === "running";
    if (!running && document.activeElement === cancel) panel.focus({ preventScroll: true }); // before it goes
    cancel.hidden = !running;
    bar.hidden = note.hidden = !running;
    if (now.total) {
      bar.max = now.total;
      bar.value = now.done;
    }
    // The time says that it is alive where one step takes long.
    note.textContent = `${now.note || "starting (its libraries take some seconds)"}, ${durationText(Date.now() / 1000 - now.started)} so far`;
    if (silent) clear(message);
    silent = false;
    if (now.state === "failed") clear(message, notice(now.error, "error"));
    if (now.state === "cancelled") clear(message, notice("Cancelled."));
  }

  show(job);
  let wasHere = false;
  const isGone = () => {
    wasHere ||= panel.isConnected;
    if (wasHere && !panel.isConnected) stop(); // its view has gone
    return wasHere && !panel.isConnected;
  };
  const stop = watchJob(
    job.id,
    (now) => {
      if (isGone()) return;
      show(now);
      onChange(now);
      if (now.state !== "running") onDone(now);
    },
    (reason) => {
      if (!isGone()) showSilence(reason);
    },
  );
  return panel;
}
