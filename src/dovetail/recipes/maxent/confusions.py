"""Figures 2 and 9 to 21: confusion matrices of specialists alone, in pairs, and merged one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..recipe import Recipe, Scale
from ..tables import Table
from ..unit import Finished, Unit
from .collecting import finished_rows, units_of
from .condition import Condition
from .other_rates import as_drawn, drawn_cnns
from .training import CASES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTE = (
    "All seeds added up, test split. *Right*: share of samples of rewarded classes whose largest output "
    "is their class. *Claimed*: share of samples of other classes whose largest output is a rewarded "
    "class; *by chance* if all outputs were alike."
)
DRAWN = (("mnist", "shallow"), ("har", "deep"), ("fashion-mnist", "cnn"), ("digits", "shallow"))
"""Whose matrices are drawn, as in the paper; its pruned CNN is pruned at 99 %."""
TITLES = {"alone": "one specialist alone", "pairs": "two summed", "steps": "merged one after another"}


def conditions(scale: Scale) -> list[Condition]:
    """Return one specialist per class for every case, pruned and not; then the CNN of the figures, also larger sets."""
    cases = [Condition(scale, *case, sparsity=sparsity) for case in CASES[scale] for sparsity in (None, 0.0)]
    return cases + drawn_cnns(scale)


def units(scale: Scale) -> Sequence[Unit]:
    """Return all the work."""
    return units_of(conditions(scale))


def tables(finished: Sequence[Finished]) -> Sequence[Table]:
    """Return what the matrices come to."""
    import pandas as pd

    lines = [
        {name: condition.labels[name] for name in ("data", "net", "pruned", "|R|")}
        | {"what": TITLES[what], **totals(matrices)}
        for condition, row in finished_rows(conditions, finished)
        for what, matrices in row["confusions"].items()
        if matrices
    ]
    return [Table("What confusion matrices come to", pd.DataFrame(lines), NOTE)] if lines else []


def totals(matrices: Sequence[dict[str, Any]]) -> dict[str, float | None]:
    """Return shares over all samples of all matrices; None where no class is left out.

    Examples
    --------
    >>> totals([{"rewarded": [0], "counts": [[8, 2], [1, 3]]}])
    {'right': 0.8, 'claimed': 0.25, 'by chance': 0.5}
    """
    right = own = claimed = others = 0
    chance = 0.0
    for matrix in matrices:
        rewarded = set(matrix["rewarded"])
        for true, counts in enumerate(matrix["counts"]):
            if true in rewarded:
                right, own = right + counts[true], own + sum(counts)
            else:
                claimed, others = claimed + sum(counts[one] for one in rewarded), others + sum(counts)
                chance += sum(counts) * len(rewarded) / len(counts)
    return {
        "right": right / own,
        "claimed": claimed / others if others else None,
        "by chance": chance / others if others else None,
    }


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Draw the matrices of the paper's three settings."""
    for condition, row in finished_rows(conditions, finished):
        if as_drawn(condition) and (condition.data, condition.model) in DRAWN:
            rate = str(condition.labels["pruned"]).removesuffix(" %")
            name = f"{condition.data}-{condition.model}-pruned-{rate}"
            for what, matrices in row["confusions"].items():
                if matrices and (what == "alone" or condition.pruned):
                    yield f"{what}-{name}-{condition.size}", _figure(matrices, TITLES[what])


def _figure(matrices: Sequence[dict[str, Any]], title: str) -> Figure:
    from .drawing import draw_confusion, panels

    figure, axes = panels(len(matrices), columns=5, size=(1.7, 1.7))
    for ax, matrix in zip(axes, matrices, strict=True):
        draw_confusion(ax, matrix["rewarded"], matrix["counts"])
    figure.suptitle(f"{title}; shares of the true class, rewarded classes named", fontsize=9)
    figure.supxlabel("largest output", fontsize=9)
    figure.supylabel("true class", fontsize=9)
    return figure


RECIPE = Recipe(
    name="confusions",
    paper="maxent",
    title="Which classes specialists and their sums take for which",
    shows="Figures 2 and 9 to 21",
    units=units,
    tables=tables,
    figures=figures,
)
