"""Write docs/results.md, and all tables and figures under results/, from the units finished there: ``make results``.

Each folder under results/ is a run of a recipe at paper scale (``dovetail reproduce NAME --scale paper -o
results/NAME``). A unit that several recipes share is kept with one of them. What is to be said about a recipe's numbers
stands in its ``remarks.md``; where that has a source, ``remarks.in.md``, its numbers are read from the tables
(`remark_numbers`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from math import isfinite
from pathlib import Path

from remark_numbers import agreement, filled_in

from dovetail.engine.results_file import NAME, read_results
from dovetail.engine.run_folder import write_tables
from dovetail.recipes import PAPERS, Cell, Comparison, Finished, Recipe, finished_units, recipes
from dovetail.recipes.tables import Quantity

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
HEAD = """# Results

What our implementation gives at paper scale, beside what the papers printed. Made by `make results` from the runs under
[`results/`](../results); `dovetail reproduce NAME --scale paper -o results/NAME` goes on with one of them.

*Δ* is ours minus published (for counts, of their shares). A number in brackets is the standard deviation. `?` marks
published cells that are not to be trusted: they repeat another data set's numbers, or are impossible as described. A
dash means not published, or not measured.
"""


NOT_RUN = "Not run at paper scale."


def main() -> None:
    """Write everything."""
    parts = [HEAD, overview()]
    for paper, title in PAPERS.items():
        parts.append(f"# {title}\n")
        parts += [section(recipe) for recipe in recipes() if recipe.paper == paper]
    (ROOT / "docs/results.md").write_text("\n".join(parts), encoding="utf-8")


@cache
def all_finished() -> dict[str, Finished]:
    """Return every finished unit by its key."""
    found: dict[str, Finished] = {}
    for path in sorted(RESULTS.glob(f"*/{NAME}")):
        found |= read_results(path)
    return found


def finished(recipe: Recipe) -> list[Finished]:
    """Return the finished units of a recipe, of older versions of their work too where there is no newer result."""
    return finished_units(recipe.units("paper"), all_finished())


def overview() -> str:
    """Return a table of all recipes: how much of each is done, on what, in how long."""
    lines = ["| recipe | shows | units done | agree | time | on |", "|---|---|---|---|---|---|"]
    for recipe in recipes():
        done = finished(recipe)
        minutes = sum(one.seconds for one in done) / 60
        devices = ", ".join(name for name, _ in Counter(one.device for one in done).most_common())
        older = sum(one.is_older for one in done)
        how_many = f"{len(done)} of {len(recipe.units('paper'))}" + (f" ({older} †)" if older else "")
        agreeing, compared = agreement(cells_of(recipe)) if done else (0, 0)
        agree = f"{agreeing} of {compared}" if compared else "–"
        lines.append(
            f"| [{recipe.paper}/{recipe.name}](#{recipe.name}) | {recipe.shows} | {how_many} | {agree} | "
            f"{minutes:.1f} min | "
            f"{devices or '–'} |"
        )
    lines += [
        "",
        "*Agree*: cells within two published standard deviations, and counts that do not differ significantly "
        "(Fisher's exact test, 5 %), of those that can be compared: with a published "
        "spread, or counts large enough to differ. Where a paper prints no spread, as for n-cuts, nothing is counted. "
        "**†**: units done by an older version, or with "
        "settings that were put right since; they are to be done again.\n",
        "*Time* adds up the units; those on the GPU ran four to fifteen side by side, which makes each longer.\n",
    ]
    return "\n".join(lines)


def section(recipe: Recipe) -> str:
    """Write a recipe's tables and figures, and return them as a part of the page."""
    folder = RESULTS / recipe.name
    lines = [f'## <a id="{recipe.name}"></a>{recipe.name}: {recipe.title}', "", f"{recipe.shows}.", ""]
    done = finished(recipe)
    if not done or not folder.exists():
        return "\n".join([*lines, NOT_RUN, ""])
    write_tables(folder, recipe, "paper", done)
    remarks = folder / "remarks.md"
    source = folder / "remarks.in.md"
    if source.exists():
        remarks.write_text(remarks_of(recipe), encoding="utf-8")
    if remarks.exists():
        if not source.exists() and any(one.is_older for one in done):
            lines += [
                "*The remarks speak of the results marked †, and were written before their cause was known.*",
                "",
            ]
        lines += [
            remarks.read_text(encoding="utf-8")
            .replace("](../../docs/results.md#", "](#")
            .replace("../../docs/", "")
        ]
    lines += [table.to_markdown() for table in recipe.tables("paper", done)]
    pictures = sorted((folder / "figures").glob("*.png"))
    lines += [
        f"![{recipe.name}: {path.stem}](../results/{recipe.name}/figures/{path.name})\n" for path in pictures
    ]
    return "\n".join(lines)


def cells_of(recipe: Recipe) -> list[Cell]:
    """Return all numbers in a recipe's tables; labels also have the title of the table, and whether it is of before."""
    cells = []
    for table in recipe.tables("paper", finished(recipe)):
        if isinstance(table, Comparison):
            found = table.cells
        else:
            found = [
                Cell(row, str(name), Quantity(value))
                for row in table.frame.to_dict("records")
                for name, value in row.items()
                if isinstance(value, float) and isfinite(value)
            ]
        cells += [
            replace(
                cell, labels={**cell.labels, "table": table.title, "of before": "yes" if cell.older else "no"}
            )
            for cell in found
        ]
    return cells


def remarks_of(recipe: Recipe) -> str:
    """Return a recipe's remarks with the numbers that its tables have."""
    source = RESULTS / recipe.name / "remarks.in.md"
    return filled_in(source.read_text(encoding="utf-8"), cells_of(recipe))


if __name__ == "__main__":
    main()
