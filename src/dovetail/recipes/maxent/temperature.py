"""Figure 6: the complete merge at other temperatures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..recipe import Recipe, Scale
from ..tables import Table
from ..unit import Finished, Unit
from .collecting import finished_rows, units_of
from .condition import Condition
from .samples import steps_table
from .training import CASES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEMPERATURES = (1.0, 3.0, 5.0, 7.0)
NOTE = "Mean over orders and seeds. The paper draws this without numbers, and chooses t = 5 as a trade-off."


def conditions(scale: Scale) -> list[Condition]:
    """Return shallow specialists, one per class, at each temperature."""
    return [Condition(scale, *CASES[scale][0], temperature=temperature) for temperature in TEMPERATURES]


def units(scale: Scale) -> Sequence[Unit]:
    """Return all the work."""
    return units_of(conditions(scale))


def tables(finished: Sequence[Finished]) -> Sequence[Table]:
    """Return accuracy and entropy after each step."""
    rows = finished_rows(conditions, finished)
    labelled = [({"data": one.data, "temperature": one.train["temperature"]}, row) for one, row in rows]
    return [
        steps_table(f"{metric.capitalize()} over the number of specialists merged", labelled, metric, NOTE)
        for metric in ("accuracy", "entropy")
        if rows
    ]


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Draw Figure 6: entropy and accuracy over merge steps, a line for each temperature."""
    from .drawing import steps_figure

    lines = [(f"t = {one.train['temperature']:g}", row) for one, row in finished_rows(conditions, finished)]
    if lines:
        yield "temperature", steps_figure(lines)


RECIPE = Recipe(
    name="temperature",
    paper="maxent",
    title="The complete merge at other temperatures",
    shows="Figure 6",
    units=units,
    tables=tables,
    figures=figures,
)
