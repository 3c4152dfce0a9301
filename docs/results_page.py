"""Write docs/results.md and papers.md, and tables and figures under results/, from what is finished: ``make results``.

Each folder under results/ is a run of a recipe at paper scale (``dovetail reproduce NAME --scale paper -o
results/NAME``). A unit that several recipes share is kept with one of them. What is to be said about a recipe's numbers
stands in ``remarks.in.md``, with its numbers to be read from the tables (`remark_numbers`), and, at its head, in a few
words why numbers that do not agree do not; ``remarks.md`` is made from it, as ``docs/papers.md`` is from
``results/papers.in.md``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from math import isfinite
from pathlib import Path

from remark_numbers import agreements, cause_and_remark, filled_in

from dovetail.engine.results_file import NAME, read_results
from dovetail.engine.run_folder import write_tables
from dovetail.recipes import PAPERS, Cell, Comparison, Finished, Recipe, find_recipe, finished_units, recipes
from dovetail.recipes.tables import Quantity

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
SOURCE = "remarks.in.md"
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
    (ROOT / "docs/papers.md").write_text(papers_page(), encoding="utf-8")
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
    lines = [
        "| recipe | shows | units done | cells that agree, within what | cause of the rest | time | on |",
        "|---|---|---|---|---|---|---|",
    ]
    for recipe in recipes():
        done = finished(recipe)
        minutes = sum(one.seconds for one in done) / 60
        devices = ", ".join(name for name, _ in Counter(one.device for one in done).most_common())
        older = sum(one.is_older for one in done)
        how_many = f"{len(done)} of {len(recipe.units('paper'))}" + (f" ({older} †)" if older else "")
        by_rule = agreements(cells_of(recipe)) if done else {}
        agree = ", ".join(f"{agreeing} of {of} ({rule})" for rule, (agreeing, of) in by_rule.items())
        cause = cause_and_remark_of(recipe)[0].replace("|", "\\|")
        lines.append(
            f"| [{recipe.paper}/{recipe.name}](#{recipe.name}) | {recipe.shows} | {how_many} | {agree or '–'} | "
            f"{cause or '–'} | {minutes:.1f} min | {devices or '–'} |"
        )
    lines += [
        "",
        "*2 sd*: within two published standard deviations. *Counts*: not significantly different (Fisher's exact "
        "test, 5 %), of those large enough to differ. *2 sd of ours*: where the paper prints no spread, as for most "
        "n-cuts, within two standard deviations of ours over networks; these are not counted elsewhere. "
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
    remark = cause_and_remark_of(recipe)[1]
    if remark:
        (folder / "remarks.md").write_text(remark, encoding="utf-8")
    if not done:
        lines += [NOT_RUN, ""]
    lines.append(remark.replace("](../../docs/results.md#", "](#").replace("../../docs/", ""))
    if not done:
        return "\n".join(lines)
    write_tables(folder, recipe, "paper", done)
    lines += [table.to_markdown() for table in recipe.tables("paper", done)]
    pictures = sorted((folder / "figures").glob("*.png"))
    lines += [
        f"![{recipe.name}: {path.stem}](../results/{recipe.name}/figures/{path.name})\n" for path in pictures
    ]
    return "\n".join(lines)


@cache
def cells_of(recipe: Recipe) -> list[Cell]:
    """Return all numbers in a recipe's tables, with labels more: its table's title and digits, whether of before."""
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
                cell,
                labels={
                    **cell.labels,
                    "table": table.title,
                    "of before": "yes" if cell.older else "no",
                    "digits": table.digits,
                },
            )
            for cell in found
        ]
    return cells


def cause_and_remark_of(recipe: Recipe) -> tuple[str, str]:
    """Return why a recipe's numbers that do not agree do not, and its remarks, both with the numbers of its tables."""
    source = RESULTS / recipe.name / SOURCE
    if not source.exists():
        return "", ""
    cause, remark = cause_and_remark(source.read_text(encoding="utf-8"))
    cells = cells_of(recipe)
    return filled_in(cause, cells, cells_elsewhere), filled_in(remark, cells, cells_elsewhere)


def papers_page() -> str:
    """Return the page of what we found in the papers, with the numbers of all tables."""
    return filled_in((RESULTS / "papers.in.md").read_text(encoding="utf-8"), [], cells_elsewhere)


def cells_elsewhere(name: str) -> list[Cell]:
    """Return all numbers in the tables of the recipe of this name."""
    return cells_of(find_recipe(name))


if __name__ == "__main__":
    main()
