"""Figure 8: a function that is used more and more often."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..recipe import Recipe, Scale
from ..tables import Comparison
from ..unit import Finished, Unit
from .charts import success_bars
from .lines import Line, count, sample, units_of, with_trials
from .pictures import network_pictures
from .settings import DEPTHS, USES, WIDTHS, boolean_trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def lines(scale: Scale) -> list[Line]:
    """Return a row for each use and depth: all widths and seeds."""
    return [
        Line(
            scale,
            {"use": use, "hidden layers": depth},
            [boolean_trials(scale, [4, 1, 2, 2 * use], width, depth) for width in WIDTHS[scale]],
        )
        for use in USES[scale]
        for depth in DEPTHS[scale]
    ]


def units(scale: Scale) -> list[Unit]:
    """Return all trials."""
    return units_of(lines(scale))


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return successes beside Figure 8."""
    cells = []
    for line, trials in with_trials(lines, finished):
        printed = line.printed(figure=8, use=line.labels["use"], hidden_layers=line.labels["hidden layers"])
        cells += [
            line.cell("success", count(trials, "full", "whole"), printed),
            line.cell("edges", sample(trials, "edges")),
        ]
    note = "Scored against the full structure, which one hidden layer cannot show, as in the paper."
    return [Comparison("Figure 8: one function, used more and more", cells, note, digits=2)]


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Yield success rates beside the published ones, and found hierarchies."""
    (table,) = tables(finished)
    if table.cells:
        success = [cell for cell in table.cells if cell.metric == "success"]
        yield "success", success_bars(success, x="use", panel="hidden layers")
        yield from network_pictures(lines, finished, row="hidden layers", column="use")


RECIPE = Recipe(
    name="reuse",
    paper="sculpt",
    title="Is a function found more often the more it is used?",
    shows="Figure 8 (networks: Figure 17)",
    units=units,
    tables=tables,
    figures=figures,
)
