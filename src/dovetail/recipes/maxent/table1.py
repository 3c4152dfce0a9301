"""Table 1: single specialists with the max-entropy loss, pruned and not."""

from __future__ import annotations

from collections.abc import Sequence

from ..recipe import Recipe, Scale
from ..tables import Comparison
from ..unit import Finished, Unit
from .collecting import units_of, with_rows
from .condition import Condition
from .samples import metric_cells
from .training import CASES

NOTE = (
    "Mean (sd) over classes and seeds, test split. The published accuracies of the MLPs on MNIST are lost "
    "in our copy of the paper; its HAR entropies are above ln 5, so it had six classes, as here; we have "
    "265 of its 561 features."
)


def conditions(scale: Scale) -> list[Condition]:
    """Return one specialist per class, for every data set and model, not pruned and pruned."""
    return [
        Condition(scale, data, model, sparsity=sparsity)
        for data, model in CASES[scale]
        for sparsity in (0.0, None)
    ]


def units(scale: Scale) -> Sequence[Unit]:
    """Return all the work."""
    return units_of(conditions(scale))


def tables(finished: Sequence[Finished]) -> Sequence[Comparison]:
    """Return ours beside the published."""
    cells = [
        cell
        for condition, row in with_rows(conditions, finished)
        for cell in metric_cells(condition, row, "alone", "maxent_table1", ("data", "net", "pruned"))
    ]
    return [Comparison("One specialist alone", cells, NOTE)] if cells else []


RECIPE = Recipe(
    name="table1",
    paper="maxent",
    title="One specialist per class: right on its own, undecided on all others",
    shows="Table 1",
    units=units,
    tables=tables,
)
