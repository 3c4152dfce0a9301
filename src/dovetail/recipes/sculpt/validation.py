"""Figure 7: four tasks with planted modules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..recipe import Recipe, Scale
from ..tables import Comparison
from ..unit import Finished, Unit
from .charts import success_bars
from .lines import Line, count, sample, units_of, with_trials
from .pictures import network_pictures
from .settings import DEPTHS, VALIDATION, WIDTHS, boolean_trials
from .tasks import task_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def lines(scale: Scale) -> list[Line]:
    """Return a row for each task and depth: all widths and seeds."""
    return [
        Line(
            scale,
            {"task": task_name(task), "structure": structure, "hidden layers": depth},
            [boolean_trials(scale, task, width, depth) for width in WIDTHS[scale]],
        )
        for structure, task in VALIDATION.items()
        for depth in DEPTHS[scale]
    ]


def units(scale: Scale) -> list[Unit]:
    """Return all trials."""
    return units_of(lines(scale))


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return successes beside Figure 7."""
    cells = []
    for line, trials in with_trials(lines, finished):
        condition = str(line.labels["structure"]).replace(" ", "_")
        printed = line.printed(figure=7, condition=condition, hidden_layers=line.labels["hidden layers"])
        cells += [
            line.cell("success", count(trials, "full", "whole"), printed),
            line.cell("at its depth", count(trials, "at_depth", "whole")),
            line.cell("edges", sample(trials, "edges")),
            line.cell("cells tied", sample(trials, "tied")),
        ]
    note = (
        "A success is a network whose modules are the planted ones, all of them, as in the paper. One hidden layer "
        "cannot show the reused function: *at its depth* counts what such a network can show. *Cells tied* is how many "
        "of the grid ended with the fewest edges."
    )
    return [Comparison("Figure 7: four function graphs", cells, note, digits=2)]


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Yield success rates beside the published ones, and found hierarchies."""
    (table,) = tables(finished)
    if table.cells:
        success = [cell for cell in table.cells if cell.metric == "success"]
        yield "success", success_bars(success, x="hidden layers", panel="structure")
        yield from network_pictures(lines, finished, row="structure", column="hidden layers")


RECIPE = Recipe(
    name="validation",
    paper="sculpt",
    title="Are the planted modules found? Four Boolean tasks",
    shows="Figure 7 (networks: Figure 14)",
    units=units,
    tables=tables,
    figures=figures,
)
