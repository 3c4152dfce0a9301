"""Confusion matrices of specialists alone, in pairs, and merged one after another: Figures 2 and 9 to 21."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..line import FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale
from .condition import CASES, Condition, as_drawn, drawn_cnns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NOTE = (
    "All seeds added up, test split. *Right*: share of samples of rewarded classes whose largest output "
    "is their class. *Claimed*: share of samples of other classes whose largest output is a rewarded "
    "class; *by chance* if all outputs were alike."
)
_DRAWN = (("mnist", "shallow"), ("har", "deep"), ("fashion-mnist", "cnn"), ("digits", "shallow"))
"""Whose matrices are drawn, as in the paper; its pruned CNN is pruned at 99 %."""
_TITLES = {"alone": "one specialist alone", "pairs": "two summed", "steps": "merged one after another"}


def _lines(scale: Scale) -> list[LineTable]:
    """Return one specialist per class for every case, pruned and not; then the CNN of the figures, also larger sets."""
    cases = [Condition(scale, *case, sparsity=sparsity) for case in CASES[scale] for sparsity in (None, 0.0)]
    lines = [
        condition.line("data", "net", "pruned", "|R|", what=title)
        for condition in [*cases, *drawn_cnns(scale)]
        for what, title in _TITLES.items()
        if what != "steps" or condition.unit.settings["orders"]
    ]
    title = "What confusion matrices come to"
    return [LineTable(title, lines, _columns, _NOTE, all_lines=False, numbers=True)]


def _columns(line: Line, rows: Rows) -> dict[str, float | None]:
    return totals(_matrices(line, rows))


def _matrices(line: Line, rows: Rows) -> list[dict[str, Any]]:
    assert rows[0] is not None
    what = next(name for name, title in _TITLES.items() if title == line.labels["what"])
    matrices: list[dict[str, Any]] = rows[0]["confusions"][what]
    return matrices


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


def _charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw the matrices of the paper's three settings."""
    names = {title: what for what, title in _TITLES.items()}
    for line, rows in filled[0].lines:
        condition, title = line.condition, line.labels["what"]
        drawn = as_drawn(condition) and (condition.data, condition.model) in _DRAWN
        if drawn and (condition.pruned or names[title] == "alone"):
            rate = str(condition.labels["pruned"]).removesuffix(" %")
            name = f"{condition.data}-{condition.model}-pruned-{rate}-{condition.size}"
            yield f"{names[title]}-{name}", _figure(_matrices(line, rows), title)


def _figure(matrices: Sequence[dict[str, Any]], title: str) -> Figure:
    from .drawing import draw_confusion, panels

    figure, axes = panels(len(matrices), columns=5, size=(1.7, 1.7))
    for ax, matrix in zip(axes, matrices, strict=True):
        draw_confusion(ax, matrix["rewarded"], matrix["counts"])
    figure.suptitle(f"{title}; shares of the true class, rewarded classes named", fontsize=9)
    figure.supxlabel("largest output", fontsize=9)
    figure.supylabel("true class", fontsize=9)
    return figure


RECIPES = (
    Recipe(
        "confusions",
        "maxent",
        "Which classes specialists and their sums take for which",
        "Figures 2 and 9 to 21",
        _lines,
        _charts,
    ),
)
