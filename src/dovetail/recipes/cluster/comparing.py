"""Recipes that compare networks of several conditions: their columns, their charts, and the recipe from the lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..line import Columns, FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Row

if TYPE_CHECKING:
    from .figures import Places

COLUMNS_NOTE = (
    "*Shuffled*: mean (standard deviation) of the n-cuts of shuffled copies, averaged over networks. "
    "*p <*: networks that are more clusterable than all of their copies. *Parts*: connected parts of the graph. "
    "Published training accuracies with dropout were taken with dropout on, ours without."
)
"""What the columns mean."""

TitledLines = Mapping[str, Sequence[Sequence[Line]]]
"""The lines of each condition, by the titles of tables."""


def comparing(
    name: str,
    title: str,
    shows: str,
    lines: Callable[[Scale], TitledLines],
    *,
    note: str,
    measures: Sequence[str] = ("",),
    score: str = "accuracy",
    charts: Callable[[Sequence[FilledTable]], Figures] | None = None,
) -> Recipe:
    """Return a recipe that compares networks of several conditions before and after pruning.

    Parameters
    ----------
    name, title, shows : str
        As in `Recipe`.
    lines : callable
        Takes the scale and returns the lines of all tables.
    note : str
        What a reader must know, beside what the columns mean.
    measures : sequence of str
        What to add to titles for each of the units' measures. There is a table for each of them, and the first is the
        one that the paper used.
    score : {"accuracy", "loss"}
        What networks are scored by.
    charts : callable, optional
        As in `Recipe`, with the tables of the first measure; `stage_charts` by default.
    """

    def tables(scale: Scale) -> list[LineTable]:
        return [
            LineTable(
                heading + added,
                [replace(line, published={}) if number else line for of_one in conditions for line in of_one],
                columns(number, score=score),
                f"{note} {COLUMNS_NOTE}",
            )
            for heading, conditions in lines(scale).items()
            for number, added in enumerate(measures)
        ]

    def draw(filled: Sequence[FilledTable]) -> Figures:
        first = filled[:: len(measures)]
        return charts(first) if charts else stage_charts(name, first, measures[0])

    return Recipe(name, "cluster", title, shows, tables, draw)


def columns(measure: int = 0, *, threshold: str | None = None, score: str = "accuracy") -> Columns:
    """Return what sums up networks at one stage.

    Parameters
    ----------
    measure : int
        Which of the units' measures to take.
    threshold : str, optional
        Below which a p-value counts, as it stands in the names of the published metrics: "0.02" or "1/320". By default
        one in as many as there are shuffled copies, which only networks reach that are more clusterable than all.
    score : {"accuracy", "loss"}
        What networks are scored by.

    Notes
    -----
    The n-cut is the mean over networks, with their standard deviation. "Shuffled" is the mean of the copies' n-cuts
    with their standard deviation, both averaged over networks. P-values below the threshold are counted. Parts are
    the connected parts of the graph, averaged.
    """

    def of_line(line: Line, rows: Rows) -> dict[str, Quantity | None]:
        below = threshold or f"{1 / line.units[0].settings['measures'][measure]['shuffles']:g}"
        row = joined(rows)
        at = row.get(line.condition) if row else None
        found = at["measures"][measure] if at and "measures" in at else None
        splits = {split: at and at.get(split) for split in ("train", "test")}
        return {
            "n-cut": found and Quantity.of_sample(found["ncut"]),
            "shuffled": found and shuffled(found),
            f"p < {below}": found and _count_below(found["p_value"], below),
            **{
                f"{split} {score}": scores and Quantity.of_sample(scores[score])
                for split, scores in splits.items()
            },
            "parts": found and Quantity.of_sample(found["components"]),
        }

    return of_line


def shuffled(found: Row) -> Quantity | None:
    """Return the mean n-cut of shuffled copies with its standard deviation, both averaged over networks."""
    mean, spread = Quantity.of_sample(found["dist_ncut"]), Quantity.of_sample(found["dist_sd"])
    return mean and spread and Quantity(mean.value, spread.value)


def _count_below(p_values: Sequence[float | None], threshold: str) -> Quantity | None:
    known = [value for value in p_values if value is not None]
    return Quantity(sum(value < Fraction(threshold) for value in known), of=len(known)) if known else None


def joined(rows: Sequence[Any]) -> Any:
    """Join what several units gave: lists of a value for each network one after another, all else key by key.

    Examples
    --------
    >>> joined([{"pruned": {"ncut": [1.0]}}, {"pruned": {"ncut": [2.0, 3.0]}}]), joined([])
    ({'pruned': {'ncut': [1.0, 2.0, 3.0]}}, None)
    """
    found = [row for row in rows if row is not None]
    if len(found) < 2:
        return found[0] if found else None
    first = found[0]
    if isinstance(first, Mapping):
        return {name: joined([row[name] for row in found]) for name in first}
    if first and isinstance(first[0], Mapping):  # one entry for each measure
        return [joined(together) for together in zip(*found, strict=True)]
    return [value for row in found for value in row]


def stage_charts(name: str, filled: Sequence[FilledTable], added: str = "") -> Figures:
    """Draw the n-cuts of every network before and after pruning, a panel for each table.

    Parameters
    ----------
    name : str
        What figures are called, with the stage behind it.
    filled : sequence of FilledTable
        The tables.
    added : str
        What titles of tables have at their end, and panels need not.
    """
    from .figures import ncut_figure

    for stage in ("unpruned", "pruned"):
        panels = {table.title.removesuffix(added): stage_places(table.lines, stage) for table in filled}
        yield f"{name}-{stage}", ncut_figure(panels, f"{stage} networks")


def stage_places(lines: Sequence[tuple[Line, Rows]], stage: str, measure: int = 0) -> Places:
    """Return what was measured of the networks of each condition, by what tells it from the others."""
    # Whichever stages there are lines for.
    conditions = {tuple(line.units): (line, rows) for line, rows in lines}
    texts, found = [], []
    for line, rows in conditions.values():
        texts.append([value for name, value in line.labels.items() if name != "pruned"])
        found.append((joined(rows) or {}).get(stage, {}).get("measures"))
    differ = [place for place, values in enumerate(zip(*texts, strict=True)) if len(set(values)) > 1]
    names = ["\n".join(text[place] for place in differ or [0]) for text in texts]
    return [(name, measures and measures[measure]) for name, measures in zip(names, found, strict=True)]
