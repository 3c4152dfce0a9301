// The other files of the folder: composites to look at, and those that cannot be used.

import { h, notice } from "../js/elements.js";
import { dataTable } from "../js/table.js";
import { kilobytes } from "./bench-group.js";

// `onLook` is called with a composite's file.
export function otherFiles(parts, onLook) {
  const composites = parts.composites.map((part) => [
    h("button", { type: "button", class: "small", onclick: () => onLook(part.file) }, "Look"),
    part.file,
    part.classes.join(", "),
    `${part.method} of ${part.specialists}`,
    kilobytes(part.size),
  ]);
  const unusable = parts.unusable.map((file) => [file.file, file.reason]);
  return h(
    "div",
    {},
    composites.length > 0 && [
      h("h2", {}, "Composites"),
      dataTable(["show", "file", "knows", "made as", "size"], composites, "Composites in this folder"),
    ],
    unusable.length > 0 &&
      h(
        "details",
        { class: "bench-unusable" },
        h("summary", {}, `${unusable.length} other ${unusable.length === 1 ? "file" : "files"}`),
        dataTable(["file", "why it is not shown"], unusable, "Files that are no specialists or composites"),
      ),
    !parts.complete && notice("The folder has more files than the bench lists; open a smaller one to see all."),
  );
}
