"""Recipes whose tables are lines of trained networks: units, tables and figures all follow from the lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..recipe import Recipe, Scale
from ..tables import Comparison
from ..unit import Finished, Unit
from .cells import line_cells
from .lines import Line, units_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tables = Mapping[str, Sequence[Line]]
"""Lines of tables by the tables' titles."""

COLUMNS = (
    "*Shuffled*: mean (standard deviation) of the n-cuts of shuffled copies, averaged over networks. "
    "*p <*: networks that are more clusterable than all of their copies. *Parts*: connected parts of the graph. "
    "Published training accuracies with dropout were taken with dropout on, ours without."
)
"""What the columns mean."""


def lines_recipe(
    name: str,
    title: str,
    shows: str,
    tables_at: Callable[[Scale], Tables],
    *,
    note: str,
    measures: Sequence[str] = ("",),
) -> Recipe:
    """Return a recipe that compares networks of several conditions before and after pruning.

    Parameters
    ----------
    name, title, shows : str
        As in `Recipe`.
    tables_at : callable
        Takes the scale and returns the lines of all tables.
    note : str
        What a reader must know, beside what the columns mean.
    measures : sequence of str
        What to add to titles for each of the units' measures. There is a table for each of them, and the first is the
        one that the paper used.
    """

    def units(scale: Scale) -> Sequence[Unit]:
        return table_units(tables_at(scale))

    def tables(finished: Sequence[Finished]) -> Sequence[Comparison]:
        return [
            Comparison(
                heading + added,
                line_cells(lines, finished, measure=number, beside_published=number == 0),
                f"{note} {COLUMNS}",
            )
            for heading, lines in tables_begun(tables_at, finished).items()
            for number, added in enumerate(measures)
        ]

    def figures(finished: Sequence[Finished]) -> Iterator[tuple[str, Figure]]:
        from .figures import ncut_figure

        begun = tables_begun(tables_at, finished)
        for stage in ("unpruned", "pruned") if begun else ():
            yield f"{name}-{stage}", ncut_figure(begun, finished, stage)

    return Recipe(name, "cluster", title, shows, units=units, tables=tables, figures=figures)


def table_units(tables: Tables) -> list[Unit]:
    """Return all units of some tables, each once."""
    return units_of(line for lines in tables.values() for line in lines)


def tables_begun(tables_at: Callable[[Scale], Tables], finished: Sequence[Finished]) -> Tables:
    """Return the tables of the scale, or both, of which something is finished."""
    done = {one.unit for one in finished}
    found: dict[str, Sequence[Line]] = {}
    scales: tuple[Scale, ...] = ("paper", "smoke")
    for scale in scales:
        tables = tables_at(scale)
        if done.intersection(table_units(tables)):
            found |= tables
    return found
