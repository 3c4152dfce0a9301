"""Connectivity: the loss on the way from one network over their sum to the other; Figures 5 and 22 to 24."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..line import FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Row
from .condition import CASES, Condition, as_drawn, drawn_cnns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TOLERANCE = 2.0
"""Percent above the straight line up to which the paper calls two networks connected."""
_NOTE = (
    "Barrier: by how many percent the max-entropy loss on the test split exceeds, at most, the straight "
    "line between both ends; mean (sd) over seeds. The paper draws these without numbers: shallow "
    "Fashion-MNIST has none in most steps and about 2 % in the later ones, the CNN more after many "
    "merges."
)
_PAIRS_NOTE = f"Connected: seeds whose barrier is at most {_TOLERANCE:g} %, the paper's tolerance."
_DRAWN = (("fashion-mnist", "shallow"), ("har", "deep"), ("fashion-mnist", "cnn"), ("digits", "shallow"))
"""Of which steps are drawn, as in the paper; its CNN is pruned at 99 %."""


def _lines(scale: Scale) -> list[LineTable]:
    """Return one specialist per class for every case; then the CNN of the figures, also with larger sets."""
    conditions = [*(Condition(scale, *case) for case in CASES[scale]), *drawn_cnns(scale)]
    steps, pairs = [], []
    for condition in conditions:
        paths = condition.unit.settings["paths"]
        if paths["steps"]:
            steps.append(condition.line("data", "net", "pruned"))
        pairs += [
            condition.line("data", "net", "pruned", "|R|", pair=_named(first, second))
            for first, second in paths["pairs"]
        ]
    return [
        LineTable(
            "Barriers of each step of the complete merge (%)", steps, _step_columns, _NOTE,
            digits=1, all_lines=False,
        ),
        LineTable("Barriers between pairs", pairs, _pair_columns, _PAIRS_NOTE, digits=1, all_lines=False),
    ]  # fmt: skip


def _step_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    """Return the barriers of each step of the complete merge."""
    return {f"+ {path['second'][0]}": Quantity.of_sample(barriers(path)) for path in _paths(rows[0], "step")}


def _pair_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    named = {_named(path["first"], path["second"]): path for path in _paths(rows[0], "pair")}
    found = barriers(named[line.labels["pair"]])
    connected = sum(one <= _TOLERANCE for one in found)
    return {"barrier (%)": Quantity.of_sample(found), "connected": Quantity(connected, of=len(found))}


def _paths(row: Row | None, kind: str) -> list[dict[str, Any]]:
    return [path for path in row["paths"] if path["kind"] == kind] if row else []


def _named(first: Sequence[int], second: Sequence[int]) -> str:
    return " → ".join(f"{{{''.join(map(str, end))}}}" for end in (first, second))


def barriers(path: dict[str, Any]) -> list[float]:
    """Return the barrier of each seed, in percent.

    Examples
    --------
    >>> barriers({"test": [[0.0, -3.0, 0.0], [0.0, 1.5, 0.0]]})
    [0.0, 1.5]
    """
    return [max(value for value in values if value is not None) for values in path["test"]]


def _charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw the paths of each step, and of pairs."""
    found = {line.condition: rows[0] for table in filled for line, rows in table.lines}
    for condition, row in found.items():
        steps = _paths(row, "step")
        if steps and as_drawn(condition) and (condition.data, condition.model) in _DRAWN:
            yield f"steps-{condition.data}-{condition.model}", _figure(steps)
    pairs = [path for one, row in found.items() if not one.as_published for path in _paths(row, "pair")]
    if pairs:
        yield "pairs-cnn", _figure(pairs)


def _figure(paths: Sequence[dict[str, Any]]) -> Figure:
    from .drawing import panels

    figure, axes = panels(len(paths), columns=5, size=(2.3, 2.1), sharex=True)
    for ax, path in zip(axes, paths, strict=True):
        _draw(ax, path)
    figure.supxlabel("t, place on the path; ½ is the sum", fontsize=9)
    figure.supylabel("loss above the straight line (%)", fontsize=9)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3, frameon=False, fontsize=8
    )
    return figure


def _draw(ax: Axes, path: dict[str, Any]) -> None:
    """Draw mean and sd over seeds along a path, on both splits."""
    import numpy as np

    from ...plotting import GREY, line_colours, plain_frame

    for split, colour in zip(("train", "test"), line_colours(2), strict=True):
        values = np.array(path[split], dtype=float)
        points = values.shape[1] // 2
        t = np.concatenate([np.linspace(0, 0.5, points), np.linspace(0.5, 1, points)])
        mean, sd = values.mean(0), values.std(0, ddof=1) if len(values) > 1 else 0
        ax.plot(t, mean, color=colour, linewidth=1.2, label=split)
        ax.fill_between(t, mean - sd, mean + sd, color=colour, alpha=0.15, linewidth=0)
    ax.axhline(_TOLERANCE, color=GREY, linestyle="--", linewidth=0.8, label=f"{_TOLERANCE:g} %")
    ax.set_xticks([0, 0.5, 1], ["0", "½", "1"])
    ax.tick_params(labelsize=7)
    ax.set_title(_named(path["first"], path["second"]), fontsize=8)
    plain_frame(ax)


RECIPES = (
    Recipe(
        "connectivity",
        "maxent",
        "The loss on the way from one network over their sum to the other",
        "Figures 5 and 22 to 24",
        _lines,
        _charts,
    ),
)
