"""What every recipe should take at paper scale on 1, 8 and 64 GPUs, as a markdown table for docs/reproducing.md.

``python bench/recipe_costs.py [RUN ...]`` also sets the seconds that finished units of these run folders took against
what was estimated, which is how the multiples in `dovetail.engine.costs` were found.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from statistics import median

from dovetail.engine import plan
from dovetail.engine.costs import unit_seconds
from dovetail.engine.results_file import NAME, read_results
from dovetail.recipes import find_work, recipes


def duration(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{seconds / 60:.0f} min"
        if seconds < 6000
        else f"{seconds / 3600:.1f} h"
    )


def estimates() -> None:
    print("| recipe | units | 1 GPU | 8 GPUs | 64 GPUs | one CPU core |")
    print("|---|---|---|---|---|---|")
    for recipe in recipes():
        found = plan(recipe.name, "paper", Path("nowhere/run"))
        cells = [duration(found.seconds(count, "cuda")) for count in (1, 8, 64)]
        print(
            f"| {recipe.paper}/{recipe.name} | {len(found.units)} | {' | '.join(cells)} | "
            f"{duration(found.seconds(1, 'cpu'))} |"
        )


def against(folders: list[Path]) -> None:
    print("\n| run | work | net | device | units | measured s | estimated s | ratio (median) |")
    print("|---|---|---|---|---|---|---|---|")
    for folder in folders:
        groups: defaultdict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
        for one in read_results(folder / NAME).values():
            kind = "cpu" if one.device == "cpu" else "cuda"
            net = str(find_work(one.unit.work).workload(one.unit.settings).net)
            groups[one.unit.work, net, one.device].append((one.seconds, unit_seconds(one.unit, kind)))
        for (work, net, device), pairs in groups.items():
            measured, estimated = (sum(column) for column in zip(*pairs, strict=True))
            ratio = median(took / wanted for took, wanted in pairs)
            times = f"{len(pairs)} | {measured:.0f} | {estimated:.0f} | {ratio:.2f}"
            print(f"| {folder.name} | {work} | {net} | {device} | {times} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", type=Path)
    arguments = parser.parse_args()
    estimates()
    if arguments.runs:
        against(arguments.runs)


if __name__ == "__main__":
    main()
