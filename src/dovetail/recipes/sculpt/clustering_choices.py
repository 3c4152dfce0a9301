"""Table 4: whether it matters how units are clustered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..recipe import Recipe, Scale
from ..tables import Cell, Comparison, Quantity
from ..unit import Finished, Unit
from . import validation
from .charts import rate_maps
from .choices import CHOICES, SCORES, Choice
from .lines import Line, count, with_trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = dict(zip(SCORES, ("modularity metric", "silhouette", "CH index", "DB index"), strict=True))
_PRINTED = dict(zip(SCORES, (0.99, 0.99, 0.49, 0.49), strict=True))
"""The same in all ten rows of the paper's table."""


def lines(scale: Scale) -> list[Line]:
    """Return a row for each linkage and distance: all networks of the four validation tasks."""
    networks = validation.units(scale)
    return [
        Line(scale, {"linkage": linkage, "distance": distance}, networks)
        for linkage, distance in CHOICES[scale]["pairs"]
    ]


def units(scale: Scale) -> list[Unit]:
    """Return the trials of `validation`."""
    return validation.units(scale)


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return success rates beside Table 4."""
    cells: list[Cell] = []
    for line, trials in with_trials(lines, finished):
        for score in SCORES:
            choice = Choice(str(line.labels["linkage"]), str(line.labels["distance"]), score)
            printed = Quantity(_PRINTED[score]) if line.scale == "paper" else None
            cells.append(line.cell(_NAMES[score], count(trials, "choices", str(choice)), printed))
    note = (
        "Networks of `validation`, all tasks, widths and depths together, scored against the structure that their "
        "depth allows. Features are the later units that a unit reaches by any path (s = L in the paper)."
    )
    return [Comparison("Table 4: ways to cluster units", cells, note, digits=2)]


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Yield success rates above the published ones."""
    (table,) = tables(finished)
    if table.cells:
        yield "success", rate_maps(table.cells, x="metric", y="linkage", column="distance")


RECIPE = Recipe(
    name="clustering-choices",
    paper="sculpt",
    title="Does it matter how units are clustered?",
    shows="Table 4",
    units=units,
    tables=tables,
    figures=figures,
)
