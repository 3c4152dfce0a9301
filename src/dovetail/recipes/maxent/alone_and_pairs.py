"""Specialists alone, and sums of two: Tables 1, 2 and 4, and Figure 3."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from statistics import fmean

from ..data import DATA_SIZES
from ..line import FilledTable, LineTable
from ..recipe import Figures, Recipe, Scale, Tables
from ..tables import Table
from ..unit import Unit
from .condition import CASES, Condition
from .rows import metric_columns, sample


def _alone(scale: Scale) -> list[LineTable]:
    """Return one specialist per class, for every data set and model, not pruned and pruned."""
    lines = [
        Condition(scale, *case, sparsity=sparsity).line("data", "net", "pruned", file="maxent_table1")
        for case in CASES[scale]
        for sparsity in (0.0, None)
    ]
    note = (
        "Mean (sd) over classes and seeds, test split. The published accuracies of the MLPs on MNIST are lost "
        "in our copy of the paper; its HAR entropies are above ln 5, so it had six classes, as here; we have "
        "265 of its 561 features."
    )
    return [LineTable("One specialist alone", lines, metric_columns("alone"), note)]


TABLE1 = Recipe(
    "table1",
    "maxent",
    "One specialist per class: right on its own, undecided on all others",
    "Table 1",
    _alone,
)

_SIZES: dict[Scale, dict[str, tuple[int, ...]]] = {
    "paper": dict.fromkeys(("shallow", "deep", "cnn"), (1, 2, 5)),
    "smoke": {"shallow": (1, 2), "deep": (1,)},
}


def pair_conditions(scale: Scale) -> list[Condition]:
    """Return all sizes, losses and cases, pruned and not."""
    return [
        Condition(scale, data, model, size, loss, sparsity)
        for data, model in CASES[scale]
        for size in _SIZES[scale][model]
        if 2 * size <= DATA_SIZES[data].outputs
        for sparsity in (None, 0.0)
        for loss in ("me", "qme", "xe")
    ]


def _pairs(scale: Scale) -> list[LineTable]:
    labels = ("data", "net", "|R|", "pruned", "loss")
    note = (
        "Mean (sd) over ten random disjoint pairs of class sets (fewer where there are no ten) and five "
        "seeds, test split; the paper's |R| = 5 is one split, {0-4} + {5-9}. `?` marks published cells that "
        "are not to be trusted. Where its Tables 2 and 4 differ, in four cells, this is Table 4."
    )
    lines = [one.line(*labels, file="maxent_table4") for one in pair_conditions(scale)]
    return [LineTable("Two specialists summed", lines, metric_columns("pairs"), note)]


def _large_cnns_last(scale: Scale) -> list[Unit]:
    """Return all the work; large sets of CNNs, which take longest, last."""
    conditions = sorted(pair_conditions(scale), key=lambda one: one.size if one.model == "cnn" else 0)
    return [condition.unit for condition in conditions]


def _with_tests(filled: Sequence[FilledTable]) -> Tables:
    """Return the pairs, and Welch's tests between losses, for conditions that are alike in all else."""
    import pandas as pd

    from ...statistics import welch

    pairs = filled[0] if filled else None
    if pairs is None:
        return []
    found = []
    for labels, group in groupby(
        ((line, rows[0]) for line, rows in pairs.lines if rows[0]),
        key=lambda one: {name: value for name, value in one[0].labels.items() if name != "loss"},
    ):
        by_loss = {line.condition.loss: sample(row, "pairs", "accuracy") for line, row in group}
        tested = dict(labels)
        for first, second in (("me", "qme"), ("qme", "xe"), ("me", "xe")):
            if first in by_loss and second in by_loss:
                test = welch(by_loss[first], by_loss[second])
                tested |= {
                    f"{first.upper()} − {second.upper()}": test.difference,
                    f"p {first}>{second}": test.p_value,
                }
        if len(tested) > len(labels):
            found.append(tested)
    note = "One-sided Welch tests on rewarded accuracy: is the first loss better than the second?"
    return [pairs.shown(), Table("Losses compared", pd.DataFrame(found), note)]


def _pruning_of_pairs(filled: Sequence[FilledTable]) -> Figures:
    """Draw Figure 3: what pruning does for pairs of images, with the max-entropy loss."""
    from matplotlib.patches import Patch

    from ...plotting import GREY, LINE_COLOURS, plain_frame
    from .drawing import panels

    found = [
        (line.condition, rows[0])
        for line, rows in filled[0].lines
        if rows[0] and line.condition.loss == "me" and line.condition.data not in ("har", "yeast")
    ]
    sets = list(dict.fromkeys(condition.data for condition, _ in found))
    if not sets:
        return
    colours = {False: GREY, True: LINE_COLOURS[0]}
    figure, axes = panels(len(sets), columns=2, size=(5.0, 3.2), sharey=True)
    for ax, data in zip(axes, sets, strict=True):
        mine = [(condition, row) for condition, row in found if condition.data == data]
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


TABLE4 = Recipe(
    "table4",
    "maxent",
    "Two specialists summed: three losses, three sizes of class sets, pruned and not",
    "Tables 2 and 4, Figure 3",
    _pairs,
    _pruning_of_pairs,
    _with_tests,
    _large_cnns_last,
)

RECIPES = (TABLE1, TABLE4)
