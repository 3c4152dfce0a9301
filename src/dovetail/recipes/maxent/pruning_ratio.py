"""Figures 7 and 8: merges of specialists that are pruned more or less."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..recipe import Recipe, Scale
from ..tables import Cell, Comparison, Quantity, Table
from ..unit import Finished, Row, Unit
from .collecting import finished_rows, units_of
from .condition import Condition
from .other_rates import CNN_DATA, FEW_PAIRS, cnn_pruned_at
from .samples import steps_table
from .training import CASES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MLP_RATES: dict[Scale, tuple[float, ...]] = {"paper": (0.0, 0.9, 0.99, 0.999), "smoke": (0.5, 0.9, 0.99)}
CNN_RATES: dict[Scale, tuple[float, ...]] = {"paper": (0.3, 0.6, 0.9, 0.99), "smoke": (0.6, 0.99)}
CNN_SIZES: dict[Scale, tuple[int, ...]] = {"paper": (2, 5), "smoke": (2,)}
NOTE = "Mean over orders and seeds. The paper draws 90, 99 and 99.9 % without numbers, and chooses 99 %."
CNN_NOTE = (
    f"Rewarded accuracy of sums of two, mean (sd) over {FEW_PAIRS} pairs and five seeds, the same pairs at "
    "every rate. The paper draws this without numbers, and finds 60 % best throughout; which other rates "
    "it tried is not in its text."
)


def mlp_conditions(scale: Scale) -> list[Condition]:
    """Return shallow specialists, one per class, at each rate (Figure 7)."""
    return [Condition(scale, *CASES[scale][0], sparsity=rate) for rate in MLP_RATES[scale]]


def cnn_conditions(scale: Scale) -> list[Condition]:
    """Return CNN specialists of larger sets at each rate (Figure 8)."""
    return [
        cnn_pruned_at(scale, data, size, rate)
        for data in CNN_DATA[scale]
        for size in CNN_SIZES[scale]
        for rate in CNN_RATES[scale]
    ]


def units(scale: Scale) -> Sequence[Unit]:
    """Return all the work."""
    return units_of([*mlp_conditions(scale), *cnn_conditions(scale)])


def tables(finished: Sequence[Finished]) -> Sequence[Table | Comparison]:
    """Return complete merges of MLPs, and pairs of CNNs."""
    found: list[Table | Comparison] = []
    mlps, cnns = finished_rows(mlp_conditions, finished), finished_rows(cnn_conditions, finished)
    labelled = [({"data": one.data, "pruned": one.labels["pruned"]}, row) for one, row in mlps]
    for metric in ("accuracy", "entropy") if mlps else ():
        found.append(steps_table(f"Shallow, {metric} over the number merged", labelled, metric, NOTE))
    if cnns:
        cells = [
            Cell(
                {"data": one.data, "|R|": one.size},
                f"{one.labels['pruned']} pruned",
                Quantity.of_sample(shared_pairs(one, row)),
            )
            for one, row in cnns
        ]
        found.append(Comparison("CNN, pairs", cells, CNN_NOTE))
    return found


def shared_pairs(condition: Condition, row: Row) -> list[float]:
    """Return the accuracies of those pairs that are measured at every rate."""
    wanted = cnn_pruned_at(condition.scale, condition.data, condition.size, 0.99).unit.settings["pairs"]
    places = [place for place, pair in enumerate(condition.unit.settings["pairs"]) if pair in wanted]
    return [accuracies[place] for accuracies in row["pairs"]["accuracy"] for place in places]


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Draw Figures 7 and 8."""
    from .drawing import steps_figure

    mlps, cnns = finished_rows(mlp_conditions, finished), finished_rows(cnn_conditions, finished)
    if mlps:
        lines = [(f"{one.labels['pruned']} pruned" if one.pruned else "not pruned", row) for one, row in mlps]
        yield "pruning-ratio-shallow", steps_figure(lines)
    if cnns:
        yield "pruning-ratio-cnn", _cnn_figure(cnns)


def _cnn_figure(rows: Sequence[tuple[Condition, Row]]) -> Figure:
    from ...plotting import line_colours, plain_frame
    from .drawing import panels

    figure, (ax,) = panels(1, size=(6.2, 3.4))
    lines = list(dict.fromkeys((one.data, one.size) for one, _ in rows))
    for (data, size), colour in zip(lines, line_colours(len(lines)), strict=True):
        mine = [
            (one.train["sparsity"], shared_pairs(one, row))
            for one, row in rows
            if (one.data, one.size) == (data, size)
        ]
        found = [Quantity.of_sample(values) for _, values in mine]
        ax.errorbar(
            [100 * rate for rate, _ in mine],
            [one.value for one in found if one],
            [one.spread or 0 for one in found if one],
            color=colour, marker="o", markersize=4, capsize=2, label=f"{data}, |R| = {size}",
        )  # fmt: skip
    ax.set(xlabel="weights pruned (%)", ylabel="rewarded accuracy of pairs (mean ± sd)")
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    plain_frame(ax)
    return figure


RECIPE = Recipe(
    name="pruning-ratio",
    paper="maxent",
    title="Merges of specialists that are pruned more or less",
    shows="Figures 7 and 8",
    units=units,
    tables=tables,
    figures=figures,
)
