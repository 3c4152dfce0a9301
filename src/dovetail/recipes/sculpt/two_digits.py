"""Two digits side by side, and networks that should fall into one module for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..recipe import Recipe, Scale
from ..tables import Comparison, Quantity
from ..unit import Finished, Row, Unit
from .charts import success_bars
from .lines import Line, count, sample, units_of, with_trials
from .pictures import network_pictures
from .settings import pair_trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTHS: dict[Scale, Sequence[int]] = {"paper": (392, 784, 1568), "smoke": (24,)}
_DEPTHS: dict[Scale, Sequence[int]] = {"paper": (2, 3, 4), "smoke": (1,)}
_CHANGES: dict[Scale, dict[str, Any]] = {
    "paper": {"threshold": 0.99},
    "smoke": {"threshold": 0.95, "lr": 0.01, "batch_size": 64, "epochs": 5},
}
_PRINTED = Quantity(33, of=36)
"""From the text of section 5.5."""


def depth_lines(scale: Scale) -> list[Line]:
    """Return a row for each depth: all widths and seeds."""
    return [
        Line(
            scale,
            {"hidden layers": depth},
            [pair_trials(scale, "two-digits", width, depth, **_CHANGES[scale]) for width in _WIDTHS[scale]],
        )
        for depth in _DEPTHS[scale]
    ]


def lines(scale: Scale) -> list[Line]:
    """Return a row for each depth, and one for all of them."""
    by_depth = depth_lines(scale)
    return [*by_depth, Line(scale, {"hidden layers": "all"}, units_of(by_depth))]


def units(scale: Scale) -> list[Unit]:
    """Return all trials."""
    return units_of(depth_lines(scale))


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return how often there are two modules, and whether they are the planted ones."""
    cells = []
    for line, trials in with_trials(lines, finished):
        printed = _PRINTED if line.scale == "paper" and line.labels["hidden layers"] == "all" else None
        two = (
            Quantity(sum(len(trial["modules"]) == 2 for trial in trials), of=len(trials)) if trials else None
        )
        cells += [
            line.cell("two modules", two, printed),
            line.cell("as planted", count(trials, "full", "whole"), printed),
            line.cell("inputs", count(trials, "full", "inputs")),
            line.cell("outputs", count(trials, "full", "outputs")),
            line.cell("crossing", Quantity.of_sample([crossing(trial) for trial in trials])),
            line.cell("edges", sample(trials, "edges")),
        ]
    note = (
        "Success in the paper is 'two completely separable modules'. *As planted*: every pixel that is used is in the "
        "module of its digit. *Crossing* is the share of path products from the pixels of one digit to the outputs of "
        "the other, ½ without structure. Differences from the paper: one cell of the grid (units 50 %, edges 2.5 %) "
        "instead of 70, and no source image is in both splits."
    )
    return [Comparison("Two digits", cells, note, digits=2)]


def crossing(trial: Row) -> float:
    """Return the share of path products that lead from one digit's pixels to the other digit's outputs."""
    own, other = (sum(trial["separability"][name]) for name in ("own", "other"))
    return float(other / (own + other))


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Yield success rates beside the published one, and found networks."""
    (table,) = tables(finished)
    if table.cells:
        success = [cell for cell in table.cells if cell.metric in ("two modules", "as planted")]
        yield "success", success_bars(success, x="hidden layers", panel="metric")
        yield from network_pictures(depth_lines, finished, column="hidden layers", size=(5.0, 4.2))


RECIPE = Recipe(
    name="two-digits",
    paper="sculpt",
    title="Does a network for two digits fall into two modules?",
    shows="Section 5.5 (networks: Figure 32)",
    units=units,
    tables=tables,
    figures=figures,
)
