"""Success rates of Neural Sculpting: one JSON line per trial.

``python bench/sculpt_success.py GROUP [GROUP ...] --out FILE`` where a group is ``figure7``, ``figure8``, ``figure10``,
``figure12``, one task of them such as ``[4,2,4]``, ``table1`` (structure tests of dense, edge-pruned and sculpted
networks), or ``two-digits`` and ``digit-xor`` (``digit-xor:4:784:0,1``: depths, widths and seeds).
``docs/sculpting-results.md`` shows what came out.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import dovetail as dt
from dovetail.data import Dataset
from dovetail.sculpting import (
    SculptOptions,
    Statue,
    compare,
    input_separability,
    planted_digits,
    sculpt_seeds,
    units_needed,
)

SEEDS = range(4)
USES = (2, 4, 8, 12, 16)
FIGURES: dict[str, list[list[int]]] = {
    "figure7": [[4, 2, 4], [4, 1, 2, 16], [6, 3, 3, 3], [4, 1, 4]],
    "figure8": [[4, 1, 2, m] for m in USES],
    "figure10": [
        [*family, m] for family in ([8, 2], [7, 3, 2], [6, 3, 2], [5, 3, 2], [4, 1, 2, 2]) for m in USES
    ],
    "figure12": [[8, 2, 1, 2, m] for m in USES],
}
Row = dict[str, object]


def boolean_trials(name: list[int], device: str | None) -> Iterator[Row]:
    """Yield the trials of a task: four seeds, three widths, three or four depths."""
    task = dt.boolean_task(name)
    deep = name[:4] == [8, 2, 1, 2]
    for depth in range(1, 5 if deep else 4):
        for width in (36, 48, 60) if deep else (24, 36, 48):
            begun = time.perf_counter()
            statues = sculpt_seeds(task, [width] * depth, SEEDS, device=device, progress=False)
            seconds = time.perf_counter() - begun
            for statue in statues:
                yield row_of(statue, task.name, width, depth, seconds) | verdicts(statue, task)


PRUNED: dict[str, SculptOptions] = {
    "dense": {"unit_steps": [], "edge_steps": []},
    "edge-pruned": {"unit_steps": []},
    "sculpted": {},
}


def structure_trials(device: str | None) -> Iterator[Row]:
    """Yield the tests of section 2: separable inputs for [4,2,4], units that carry 90 % for [4,1,2,16]."""
    for kind, options in PRUNED.items():
        for width in (24, 36, 48):
            for depth in (1, 2, 3):
                task = dt.boolean_task([4, 2, 4])
                statues = sculpt_seeds(task, [width] * depth, SEEDS, **with_usual(options, device))
                for statue in statues:
                    test = input_separability(statue.network, task)
                    yield {
                        "what": "separable", "kind": kind, "width": width, "depth": depth, "seed": statue.seed,
                        "t": [group.t for group in test], "p": [group.p_value for group in test],
                        "rejected": test.rejected,
                    }  # fmt: skip
            statues = sculpt_seeds([4, 1, 2, 16], [width] * 2, SEEDS, **with_usual(options, device))
            for statue in statues:
                needed = [int(count) for count in units_needed(statue.network)]
                yield {
                    "what": "reused",
                    "kind": kind,
                    "width": width,
                    "depth": 2,
                    "seed": statue.seed,
                    "needed": needed,
                }


def with_usual(options: SculptOptions, device: str | None) -> SculptOptions:
    return {**options, "device": device, "progress": False}


def verdicts(statue: Statue, task: dt.BooleanTask) -> Row:
    """Return every property by its name, and the whole against the full structure, as in Figures 7 and 8."""
    match = compare(statue.hierarchy, task)
    found: Row = {
        entry.name: getattr(match, entry.name) for entry in fields(match) if entry.name != "expected"
    }
    return found | {"full": compare(statue.hierarchy, task, depth="any").whole}


def row_of(statue: Statue, task: str, width: int, depth: int, seconds: float) -> Row:
    clusterings = statue.hierarchy.clusterings
    return {
        "task": task, "width": width, "depth": depth, "seed": statue.seed, "outcome": statue.outcome,
        "accuracy": statue.accuracy, "edges": statue.edges, "units": statue.units, "tied": statue.tied,
        "cell": [statue.unit_step, statue.edge_step], "modules": len(statue.hierarchy.modules),
        "distances_tied": any(clustering.tied for clustering in clusterings), "seconds": seconds,
    }  # fmt: skip


def digit_trials(name: str, device: str | None, which: list[str], options: SculptOptions) -> Iterator[Row]:
    """Yield trials on pairs of MNIST digits."""
    data: Dataset = dt.load(name)
    planted = planted_digits(name)  # type: ignore[arg-type]
    depths, widths, seeds = (
        [int(part) for part in text.split(",")]
        for text in [*which, *["2,3,4", "784", "0,1,2,3"][len(which) :]]
    )
    for depth in depths:
        for width in widths:
            begun = time.perf_counter()
            statues = sculpt_seeds(data, [width] * depth, seeds, **with_usual(options, device))
            seconds = time.perf_counter() - begun
            for statue in statues:
                match = compare(statue.hierarchy, planted)
                found = {
                    entry.name: getattr(match, entry.name)
                    for entry in fields(match)
                    if entry.name != "expected"
                }
                yield row_of(statue, name, width, depth, seconds) | found | {"options": {**options}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device")
    parser.add_argument(
        "--options", type=json.loads, default={}, help="options of sculpt, as JSON, for digits"
    )
    arguments = parser.parse_args()
    for group in arguments.groups:
        name, *which = group.split(":")
        if name in ("two-digits", "digit-xor"):
            rows = digit_trials(name, arguments.device, which, arguments.options)
        elif name == "table1":
            rows = structure_trials(arguments.device)
        else:
            tasks = FIGURES.get(name) or [json.loads(name)]
            rows = (row for task in tasks for row in boolean_trials(task, arguments.device))
        for row in rows:
            with arguments.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            shown = {key: value for key, value in row.items() if key not in ("options", "accuracy", "cell")}
            print(*(f"{key}={value}" for key, value in shown.items()), flush=True)


if __name__ == "__main__":
    main()
