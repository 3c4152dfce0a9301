"""Table 4, which contains Table 2 and Figure 3: sums of two specialists, three losses, pruned and not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING

from ..recipe import Recipe, Scale
from ..tables import Comparison, Table
from ..unit import Finished, Row, Unit
from .collecting import finished_rows, units_of, with_rows
from .condition import Condition
from .data_sets import DATA_SETS
from .samples import metric_cells, sample
from .training import CASES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES: dict[Scale, dict[str, tuple[int, ...]]] = {
    "paper": dict.fromkeys(("shallow", "deep", "cnn"), (1, 2, 5)),
    "smoke": {"shallow": (1, 2), "deep": (1,)},
}
LOSSES = ("me", "qme", "xe")
NOTE = (
    "Mean (sd) over ten random disjoint pairs of class sets (fewer where there are no ten) and five "
    "seeds, test split; the paper's |R| = 5 is one split, {0-4} + {5-9}. `?` marks published cells that "
    "are not to be trusted. Where its Tables 2 and 4 differ, in four cells, this is Table 4."
)
WELCH_NOTE = "One-sided Welch tests on rewarded accuracy: is the first loss better than the second?"


def conditions(scale: Scale) -> list[Condition]:
    """Return all sizes, losses and cases, pruned and not."""
    return [
        Condition(scale, data, model, size, loss, sparsity)
        for data, model in CASES[scale]
        for size in SIZES[scale][model]
        if 2 * size <= DATA_SETS[data].classes
        for sparsity in (None, 0.0)
        for loss in LOSSES
    ]


def units(scale: Scale) -> Sequence[Unit]:
    """Return all the work; large sets of CNNs, which take longest, last."""
    return units_of(sorted(conditions(scale), key=lambda one: one.size if one.model == "cnn" else 0))


def tables(finished: Sequence[Finished]) -> Sequence[Table | Comparison]:
    """Return pairs beside the published, and tests between losses."""
    cells = [
        cell
        for condition, row in with_rows(conditions, finished)
        for cell in metric_cells(
            condition, row, "pairs", "maxent_table4", ("data", "net", "|R|", "pruned", "loss")
        )
    ]
    if not cells:
        return []
    return [Comparison("Two specialists summed", cells, NOTE), _tests(finished_rows(conditions, finished))]


def _tests(rows: Sequence[tuple[Condition, Row]]) -> Table:
    """Return Welch's tests between losses, for groups that are alike in all else."""
    import pandas as pd

    from ...statistics import welch

    found = []
    for labels, group in groupby(
        rows, key=lambda one: {n: v for n, v in one[0].labels.items() if n != "loss"}
    ):
        by_loss = {condition.loss: sample(row, "pairs", "accuracy") for condition, row in group}
        line = dict(labels)
        for first, second in (("me", "qme"), ("qme", "xe"), ("me", "xe")):
            if first in by_loss and second in by_loss:
                test = welch(by_loss[first], by_loss[second])
                line |= {
                    f"{first.upper()} − {second.upper()}": test.difference,
                    f"p {first}>{second}": test.p_value,
                }
        if len(line) > len(labels):
            found.append(line)
    return Table("Losses compared", pd.DataFrame(found), WELCH_NOTE)


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Draw Figure 3: what pruning does for pairs of images, with the max-entropy loss."""
    from matplotlib.patches import Patch

    from ...plotting import GREY, LINE_COLOURS, plain_frame
    from .drawing import panels

    rows = [
        (condition, row)
        for condition, row in finished_rows(conditions, finished)
        if condition.loss == "me" and condition.data not in ("har", "yeast")
    ]
    sets = list(dict.fromkeys(condition.data for condition, _ in rows))
    if not sets:
        return
    colours = {False: GREY, True: LINE_COLOURS[0]}
    figure, axes = panels(len(sets), columns=2, size=(5.0, 3.2), sharey=True)
    for ax, data in zip(axes, sets, strict=True):
        mine = [(condition, row) for condition, row in rows if condition.data == data]
        groups = list(dict.fromkeys((condition.model, condition.size) for condition, _ in mine))
        for condition, row in mine:
            values = sample(row, "pairs", "accuracy")
            place = groups.index((condition.model, condition.size)) + (0.2 if condition.pruned else -0.2)
            ax.bar(place, fmean(values), 0.38, color=colours[condition.pruned])
        ax.set_xticks(range(len(groups)), [f"{model}\n|R| = {size}" for model, size in groups], fontsize=7)
        ax.set(title=data, ylim=(0, 1.02))
        plain_frame(ax)
    axes[0].set_ylabel("rewarded accuracy of the sum")
    handles = [Patch(color=colours[pruned], label="pruned" if pruned else "not pruned") for pruned in colours]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    yield "pruning-of-pairs", figure


RECIPE = Recipe(
    name="table4",
    paper="maxent",
    title="Two specialists summed: three losses, three sizes of class sets, pruned and not",
    shows="Tables 2 and 4, Figure 3",
    units=units,
    tables=tables,
    figures=figures,
)
