// How trainings go that run beside the server, and how those went that have ended: losses, epoch by epoch.

import { get } from "../js/api.js";
import { chartPlace } from "../js/chart.js";
import { h } from "../js/elements.js";
import { watchJob } from "../js/job.js";

const KINDS = ["demo"]; // jobs that report curves

function training(job) {
  const place = chartPlace(`${job.title}: loss in training (dotted) and on validation data`);
  const none = h("p", { class: "quiet" }, "No curve yet.");
  let drawn = "";
  const stop = watchJob(job.id, (now) => {
    const curves = (now.result ?? now.partial)?.curves;
    const text = JSON.stringify(curves ?? null);
    if (text === drawn) return;
    drawn = text;
    none.hidden = Boolean(curves);
    if (curves) place.draw(curves);
  });
  const since = new Date(job.started * 1000).toLocaleTimeString();
  return { element: h("section", {}, h("h3", {}, `${job.title}, ${since}`), none, place.element), stop };
}

// The trainings of this session, the latest first; nothing where there are none.
export async function trainingCurves() {
  const jobs = (await get("/api/jobs")).filter(({ kind }) => KINDS.includes(kind));
  const all = jobs.map(training);
  return {
    element: h("section", { hidden: !all.length }, h("h2", {}, "Trainings of this session"), all.map(({ element }) => element)),
    stop() {
      for (const one of all) one.stop();
    },
  };
}
