// How far a run is: a bar, units in words, and the time left where it is known.

import { durationText, h } from "../js/elements.js";

export function progressBar(run) {
  const words = `${run.done} of ${run.units}${run.state === "running" ? `, ${leftText(run.left)}` : ""}`;
  return h(
    "span",
    { class: "runs-progress" },
    h("progress", { max: 1, value: run.share, "aria-label": `Progress of ${run.name}` }),
    h("span", {}, words),
  );
}

function leftText(seconds) {
  return seconds === null ? "time left known after the next unit" : `about ${durationText(seconds)} left`;
}

export function dateText(seconds) {
  return seconds ? new Date(seconds * 1000).toLocaleString() : "–";
}
