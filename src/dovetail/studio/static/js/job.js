// Long work that runs beside the server: how far it is, and a button to cancel it.

import { get, remove } from "./api.js";
import { clear, h, notice } from "./elements.js";

const PAUSE = 400;

// Calls onChange with the job now and then until it has ended; returns a function that stops watching.
export function watchJob(id, onChange) {
  let stopped = false;
  let timer = 0;
  async function look() {
    let job;
    try {
      job = await get(`/api/jobs/${encodeURIComponent(id)}`);
    } catch (error) {
      job = { id, state: "failed", error: error.message, partial: null, result: null };
    }
    if (stopped) return;
    onChange(job);
    if (job.state === "running" && !stopped) timer = setTimeout(look, PAUSE);
  }
  look();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

// A panel that follows a job while it is on the page. `onChange` gets every state, `onDone` the last one.
export function jobPanel(job, { onChange, onDone } = {}) {
  const bar = h("progress", { "aria-label": job.title });
  const note = h("span", { class: "quiet" });
  const cancel = h("button", { type: "button" }, "Cancel");
  const message = h("div", { "aria-live": "polite" });
  const panel = h(
    "section",
    { class: "card job", "aria-label": job.title },
    h("div", { class: "row" }, h("strong", {}, job.title), h("span", { class: "grow" }), cancel),
    bar,
    note,
    message,
  );
  cancel.addEventListener("click", async () => {
    cancel.disabled = true;
    try {
      await remove(`/api/jobs/${encodeURIComponent(job.id)}`);
    } catch (error) {
      clear(message, notice(error.message, "error"));
      cancel.disabled = false;
    }
  });

  function show(now) {
    const running = now.state === "running";
    cancel.hidden = !running;
    bar.hidden = note.hidden = !running;
    if (now.total) {
      bar.max = now.total;
      bar.value = now.done;
    }
    note.textContent = now.note || "Starting…";
    if (now.state === "failed") clear(message, notice(now.error, "error"));
    if (now.state === "cancelled") clear(message, notice("Cancelled."));
  }

  show(job);
  let wasHere = false;
  const stop = watchJob(job.id, (now) => {
    wasHere ||= panel.isConnected;
    if (wasHere && !panel.isConnected) return stop(); // its view has gone
    show(now);
    onChange?.(now);
    if (now.state !== "running") onDone?.(now);
  });
  return panel;
}
