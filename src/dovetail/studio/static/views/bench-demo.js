// For a folder without specialists: the offer to train the demonstration's, and how far that is.

import { get, post } from "../js/api.js";
import { clear, emptyState, h, notice } from "../js/elements.js";
import { jobPanel } from "../js/job.js";

// A panel that follows the training; `reload` is called when more specialists are there, `ended` at the end.
function follow(job, { reload, ended }) {
  let done = 0;
  return jobPanel(job, {
    onChange(now) {
      if (now.state === "running" && now.done > done) reload();
      done = now.done;
    },
    onDone: ended,
  });
}

// The panel of a training that is under way, or null.
export async function runningDemo(handlers) {
  const jobs = await get("/api/jobs");
  const job = jobs.find((one) => one.kind === "demo" && one.state === "running");
  return job ? follow(job, handlers) : null;
}

// Calls `handlers.started` with the panel of the training when it was asked for.
export function demoOffer(handlers) {
  const message = h("div", {});
  const button = h("button", { type: "button", class: "primary" }, "Train ten specialists");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      handlers.started(follow(await post("/api/bench/demo"), handlers));
    } catch (error) {
      clear(message, notice(error.message, "error"));
      button.disabled = false;
    }
  });
  return h(
    "div",
    {},
    emptyState(
      "This folder has no specialists yet. The demonstration's can be trained here: ten small networks, one for each " +
        "handwritten digit, on data that comes along. It takes less than a minute and fills the folder demo-parts.",
      button,
    ),
    message,
  );
}
