// Start a recipe at smoke scale beside the server, or go on with one that was cancelled.

import { get, post } from "../js/api.js";
import { clear, h, notice, whenSent } from "../js/elements.js";
import { jobPanel } from "../js/job.js";
import { placeOf } from "../js/place.js";

export async function recipeForm() {
  const [recipes, jobs] = await Promise.all([get("/api/runs/recipes"), get("/api/jobs")]);
  const message = h("div", { "aria-live": "polite" });
  const running = h("div", { class: "runs-jobs" });
  const choice = h(
    "select",
    { id: "recipe", required: true },
    papers(recipes).map(([paper, mine]) =>
      h("optgroup", { label: paper }, mine.map(({ name, title }) => h("option", { value: name }, `${name}: ${title}`))),
    ),
  );
  const button = h("button", { type: "submit", class: "primary" }, "Run it");
  const form = h(
    "form",
    { class: "card runs-form", "aria-label": "Run a recipe" },
    h("label", { for: "recipe" }, "Recipe"),
    choice,
    button,
    h(
      "p",
      { class: "quiet" },
      "At smoke scale, on data that is always there, into runs/NAME-smoke. " +
        "Cancelled and started again, it goes on where it was.",
    ),
    message,
  );
  whenSent(form, button, message, async () => running.prepend(followed(await post("/api/runs", { recipe: choice.value }))));
  running.append(...jobs.filter((job) => job.kind === "recipe" && job.state === "running").map(followed));
  return h("section", { "aria-label": "Run a recipe" }, h("h2", {}, "Run a recipe"), form, running);
}

function papers(recipes) {
  const groups = new Map();
  for (const recipe of recipes) groups.set(recipe.paper, [...(groups.get(recipe.paper) ?? []), recipe]);
  return [...groups];
}

// A panel that follows a job and says at the end where its run is.
function followed(job) {
  const end = h("div", { "aria-live": "polite" });
  const panel = jobPanel(job, {
    onDone: (now) => {
      if (!now.result) return;
      const { run, failed } = now.result;
      clear(
        end,
        failed ? notice(`Not possible: ${failed}.`, "error") : null,
        h("p", {}, "Done: ", h("a", { href: placeOf("runs", { run }) }, run)),
      );
    },
  });
  panel.append(end);
  return panel;
}
