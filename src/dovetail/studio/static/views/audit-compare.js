// Several audits side by side: their numbers in one table, and each beside its shuffled copies in one chart.

import { get } from "../js/api.js";
import { chartPlace } from "../js/chart.js";
import { clear, h, notice, numberText } from "../js/elements.js";
import { dataTable } from "../js/table.js";
import { SEPARATOR } from "./audit-list.js";

const exact = (value) => (value === null ? "–" : String(Number(value.toPrecision(3))));

const COLUMNS = [
  { title: "audit", key: "name" },
  { title: "network", key: "file" },
  { title: "clusters", key: "k" },
  { title: "n-cut", key: "ncut", number: true },
  { title: "copies: mean", key: "mean", number: true },
  { title: "sd", key: "std", number: true },
  { title: "z", key: "z_score", number: true, format: (value) => numberText(value, 2) },
  { title: "p", key: "p_value", number: true, format: exact },
  { title: "copies", key: "copies" },
  { title: "agreement of seeds", key: "agreement", number: true, format: (value) => numberText(value, 2) },
  { title: "components", key: "components" },
  { title: "units", key: "units" },
  { title: "shuffle", key: "shuffle" },
  { title: "seed", key: "seed", number: true, format: String },
];

export async function showCompared(box, names) {
  const chart = chartPlace("Each network beside its shuffled copies");
  try {
    const { audits, chart: figure } = await get("/api/audit/compare", { of: names.split(SEPARATOR) });
    clear(
      box,
      h("h2", {}, `${audits.length} audits side by side`),
      h("p", { class: "quiet" }, "An n-cut divided by the number of clusters is the chance that a connection, picked at a cluster, leaves it."),
      chart.element,
      dataTable(COLUMNS, audits, "Audits side by side"),
      audits.map((audit) => [h("h3", {}, audit.name), audit.verdict.split("\n").map((line) => h("p", {}, line))]),
    );
    chart.draw(figure);
  } catch (error) {
    clear(box, notice(error.message, "error"));
  }
}
