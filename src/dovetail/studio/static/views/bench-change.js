// What a change of the ticks did, in words.

import { percent } from "./bench-group.js";

const without = (names, others) => names.filter((name) => !others.includes(name));

const titleOf = (name, methods) => methods.find((method) => method.name === name)?.title ?? name;

function classChange(name, before, after) {
  const n = after.classes.indexOf(name);
  return `on class ${name} ${percent(before.class_accuracy[n])} → ${percent(after.class_accuracy[n])}`;
}

// Compares two measurements of the same classes; null where there is nothing to compare. `methods` have titles.
export function changeText(before, after, methods) {
  if (before.accuracy === null || after.accuracy === null) return null;
  if (before.classes.join() !== after.classes.join()) return null;
  const added = without(after.knows, before.knows);
  const dropped = without(before.knows, after.knows);
  const what = [
    dropped.length > 0 && `Dropped ${dropped.join(", ")}`,
    added.length > 0 && `Added ${added.join(", ")}`,
    before.method !== after.method && after.method && `Method now ${titleOf(after.method, methods)}`,
  ].filter(Boolean);
  if (!what.length) return null;
  const single = [...added, ...dropped];
  const detail = single.length === 1 ? `; ${classChange(single[0], before, after)}` : "";
  return `${what.join(", ")}: accuracy ${percent(before.accuracy)} → ${percent(after.accuracy)}${detail}.`;
}
