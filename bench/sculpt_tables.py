"""Turn the lines of ``bench/sculpt_success.py`` into the tables of ``docs/sculpting-results.md``.

``python bench/sculpt_tables.py RESULTS.jsonl [...] --published sculpting_success.csv``
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median

Row = dict[str, object]
Published = dict[tuple[str, ...], str]

FIGURE_7 = {
    "[4,2,4]": "input_separable",
    "[4,1,2,16]": "reused",
    "[6,3,3,3]": "input_separable_and_reused",
    "[4,1,4]": "single",
}
OVERLAPS = {"[8,2": 0, "[7,3,2": 1, "[6,3,2": 2, "[5,3,2": 3, "[4,1,2,2": 4}
PROPERTIES_10 = {"inputs": "input_modules", "outputs": "output_modules", "hidden": "hidden_units_separated"}
PROPERTIES_12A = {"inputs": "input_separable", "intermediate": "single_intermediate", "outputs": "output"}


def chosen(rows: list[Row], **wanted: object) -> list[Row]:
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def count(rows: list[Row], key: str) -> str:
    return f"{sum(bool(row[key]) for row in rows)}/{len(rows)}" if rows else "–"


def numbers(rows: list[Row], key: str) -> list[float]:
    return [float(str(row[key])) for row in rows]


def read_published(path: Path | None) -> Published:
    if path is None:
        return {}
    with path.open() as file:
        return {
            (r["figure"], r["condition"], r["hidden_layers"], r["use"], r["overlap"], r["property"]): r[
                "successes"
            ]
            for r in csv.DictReader(file)
        }


def figure_7(rows: list[Row], published: Published) -> Iterable[str]:
    yield "| task | hidden layers | success | published | fewest, median, most edges | cells tied (median of 70) |"
    yield "|---|---|---|---|---|---|"
    for task, condition in FIGURE_7.items():
        for depth in (1, 2, 3):
            found = chosen(rows, task=task, depth=depth)[:12]
            if found:
                edges = numbers(found, "edges")
                theirs = published.get(("7", condition, str(depth), "", "", ""), "–")
                yield (
                    f"| {task} {condition.replace('_', ' ')} | {depth} | {count(found, 'full')} | {theirs}/12 | "
                    f"{min(edges):.0f}, {median(edges):.0f}, {max(edges):.0f} | {median(numbers(found, 'tied')):.0f} |"
                )


def figure_8(rows: list[Row], published: Published) -> Iterable[str]:
    yield "| use | " + " | ".join(f"{d} hidden | published" for d in (1, 2, 3)) + " |"
    yield "|---" * 7 + "|"
    for m in (2, 4, 8, 12, 16):
        cells = []
        for depth in (1, 2, 3):
            found = chosen(rows, task=f"[4,1,2,{m}]", depth=depth)[:12]
            theirs = published.get(("8", "reused", str(depth), str(m // 2), "", ""), "–")
            cells += [count(found, "full"), f"{theirs}/12"]
        yield f"| {m // 2} | {' | '.join(cells)} |"


def figure_10(rows: list[Row], published: Published) -> Iterable[str]:
    yield "| inputs shared | use | " + " | ".join(f"{name} | published" for name in PROPERTIES_10) + " |"
    yield "|---" * 8 + "|"
    for family, overlap in OVERLAPS.items():
        for m in (2, 4, 8, 12, 16):
            found = chosen(rows, task=f"{family},{m}]")
            if found:
                cells = []
                for ours, theirs in PROPERTIES_10.items():
                    printed = published.get(("10", "", "", str(m // 2), str(overlap), theirs), "–")
                    cells += [count(found, ours), f"{printed}/36"]
                yield f"| {overlap} | {m // 2} | {' | '.join(cells)} |"


def figure_12(rows: list[Row], published: Published) -> Iterable[str]:
    yield "| use | hidden layers | whole hierarchy | published | edges (median) |"
    yield "|---|---|---|---|---|"
    for m in (2, 4, 8, 12, 16):
        for depth in (1, 2, 3, 4):
            found = chosen(rows, task=f"[8,2,1,2,{m}]", depth=depth)
            if found:
                theirs = published.get(("12b", "", str(depth), str(m // 2), "", "hierarchical_structure"))
                shown = "–" if theirs is None else f"{theirs}/12"
                edges = median(numbers(found, "edges"))
                yield f"| {m // 2} | {depth} | {count(found, 'whole')} | {shown} | {edges:.0f} |"


def structure(rows: list[Row]) -> Iterable[str]:
    yield "| networks | both tests reject, 1 / 2 / 3 hidden layers | units that carry 90 %, width 24 / 36 / 48 |"
    yield "|---|---|---|"
    for kind in ("dense", "edge-pruned", "sculpted"):
        tests = [count(chosen(rows, what="separable", kind=kind, depth=d), "rejected") for d in (1, 2, 3)]
        needed = []
        for width in (24, 36, 48):
            layers = zip(
                *(row["needed"] for row in chosen(rows, what="reused", kind=kind, width=width)), strict=True
            )
            needed.append(", ".join(f"{median(layer):g}" for layer in layers))
        yield f"| {kind} | {' / '.join(tests)} | {' / '.join(needed)} |"


def digits(rows: list[Row]) -> Iterable[str]:
    yield "| task | hidden layers | trials | as planted | inputs | outputs | edges (median) | accuracy (median) |"
    yield "|---|---|---|---|---|---|---|---|"
    for task in ("two-digits", "digit-xor"):
        for depth in (1, 2, 3, 4, 5):
            found = [row for row in chosen(rows, task=task, depth=depth) if row["outcome"] != "not learned"]
            if found:
                yield (
                    f"| {task} | {depth} | {len(found)} | {count(found, 'whole')} | {count(found, 'inputs')} | "
                    f"{count(found, 'outputs')} | {median(numbers(found, 'edges')):.0f} | "
                    f"{median(numbers(found, 'accuracy')):.4f} |"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--published", type=Path)
    arguments = parser.parse_args()
    rows = [json.loads(line) for path in arguments.results for line in path.read_text().splitlines()]
    published = read_published(arguments.published)
    tables = {
        "Figure 7": figure_7(rows, published),
        "Figure 8": figure_8(rows, published),
        "Figure 10": figure_10(rows, published),
        "Figure 12": figure_12(rows, published),
        "Structure": structure(rows),
        "Digits": digits(rows),
    }
    for title, lines in tables.items():
        print(f"\n## {title}\n", *lines, sep="\n")


if __name__ == "__main__":
    main()
