"""Recipes: a table or figure of a paper as something one can run.

A recipe is declared: its lines (which conditions are looked at, and what is published for them), the columns that sum
up what came out, a note, and a chart. Which units there are to do, the tables and the figures all follow from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from ..errors import unknown_name
from .line import FilledTable, LineTable, units_of
from .tables import Comparison, Table
from .unit import Finished, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["smoke", "paper"]
"""``"smoke"``: the same in seconds, on data that is always there, with few and small networks; ``"paper"``: as
published."""

Paper = Literal["maxent", "sculpt", "cluster", "beyond"]

PAPERS: dict[Paper, str] = {
    "maxent": "Composable Sparse Subnetworks via Maximum-Entropy Principle",
    "sculpt": "Neural Sculpting",
    "cluster": "Clusterability in Neural Networks",
    "beyond": "Beyond the papers",
}
"""The papers by what they are called here, and what is in none of them."""

Tables = Sequence[Table | Comparison]
Figures = Iterable[tuple[str, "Figure"]]

_SMOKE_NOTE = (
    "At smoke scale, with other data and fewer networks, epochs and copies; "
    "what follows speaks of the paper's scale."
)


def check_scale(scale: str) -> None:
    """Refuse a scale that there is not."""
    if scale not in get_args(Scale):
        raise unknown_name("scale", scale, get_args(Scale))


def as_filled(tables: Sequence[FilledTable]) -> Tables:
    """Return tables as they are, for recipes that add nothing to them."""
    return [table.shown() for table in tables]


def no_charts(tables: Sequence[FilledTable]) -> Figures:
    """Return no figures, for recipes whose tables say all."""
    return ()


@dataclass(frozen=True)
class Recipe:
    """A table or figure of a paper.

    Attributes
    ----------
    name : str
        What it is called on the command line.
    paper : str
        Which paper it is of; ``"beyond"`` for what no paper has.
    title : str
        What is found out, in a few words.
    shows : str
        Which tables and figures of the paper.
    lines : callable
        Takes the scale and returns the tables before there are results.
    charts : callable
        Takes the tables with their results and returns names and figures.
    arrange : callable
        Takes the tables with their results and returns what is shown, if not just these.
    order : callable, optional
        Takes the scale and returns the units in the order in which they are to be done; by default that of the lines.

    Examples
    --------
    >>> from dovetail.recipes import find_recipe
    >>> recipe = find_recipe("table1")
    >>> len(recipe.units("smoke")), recipe.tables("smoke", [])
    (4, [])
    """

    name: str
    paper: Paper
    title: str
    shows: str
    lines: Callable[[Scale], Sequence[LineTable]]
    charts: Callable[[Sequence[FilledTable]], Figures] = no_charts
    arrange: Callable[[Sequence[FilledTable]], Tables] = as_filled
    order: Callable[[Scale], Sequence[Unit]] | None = None

    def units(self, scale: Scale) -> list[Unit]:
        """Return all the work, each unit once."""
        if self.order is not None:
            return list(dict.fromkeys(self.order(scale)))
        return units_of(line for table in self.lines(scale) for line in table.lines)

    def tables(self, scale: Scale, finished: Sequence[Finished]) -> list[Table | Comparison]:
        """Return tables of what is finished, which may be less than all: ours beside the published.

        Notes say which scale this is, as they speak of the paper's, and which results an older version of their work
        gave.
        """
        notes = [_SMOKE_NOTE] * (scale == "smoke") + _older_note(self.name, finished)
        shown = self.arrange(self._filled(scale, finished))
        return [replace(table, note=" ".join([*notes, table.note]).strip()) for table in shown]

    def figures(self, scale: Scale, finished: Sequence[Finished]) -> Figures:
        """Return names and figures of what is finished."""
        filled = self._filled(scale, finished)
        return self.charts(filled) if filled else ()

    def _filled(self, scale: Scale, finished: Sequence[Finished]) -> list[FilledTable]:
        """Return all tables that have lines to show, once anything is finished."""
        by_unit = {one.unit: one for one in finished}
        filled = [FilledTable(table, by_unit) for table in self.lines(scale)]
        return [table for table in filled if table.lines] if any(table.begun for table in filled) else []


def _older_note(name: str, finished: Sequence[Finished]) -> list[str]:
    older = [one.unit.label for one in finished if one.is_older]
    if not older:
        return []
    return [
        f"**†** {len(older)} of {len(finished)} units (the first: {older[0]}) are results of an older version of their "
        f"work, or with settings that were put right since; `dovetail reproduce {name}` does them again."
    ]
