"""Figures 5 and 22 to 24: the loss on the way from one network over their sum to the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..recipe import Recipe, Scale
from ..tables import Cell, Comparison, Quantity
from ..unit import Finished, Unit
from .collecting import finished_rows, units_of
from .condition import Condition
from .other_rates import as_drawn, drawn_cnns
from .training import CASES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOLERANCE = 2.0
"""Percent above the straight line up to which the paper calls two networks connected."""
NOTE = (
    "Barrier: by how many percent the max-entropy loss on the test split exceeds, at most, the straight "
    "line between both ends; mean (sd) over seeds. The paper draws these without numbers: shallow "
    "Fashion-MNIST has none in most steps and about 2 % in the later ones, the CNN more after many "
    "merges."
)
PAIRS_NOTE = f"Connected: seeds whose barrier is at most {TOLERANCE:g} %, the paper's tolerance."
DRAWN = (("fashion-mnist", "shallow"), ("har", "deep"), ("fashion-mnist", "cnn"), ("digits", "shallow"))
"""Of which steps are drawn, as in the paper; its CNN is pruned at 99 %."""


def conditions(scale: Scale) -> list[Condition]:
    """Return one specialist per class for every case; then the CNN of the figures, also with larger sets."""
    cases = [Condition(scale, *case) for case in CASES[scale]]
    return cases + drawn_cnns(scale)


def units(scale: Scale) -> Sequence[Unit]:
    """Return all the work."""
    return units_of(conditions(scale))


def tables(finished: Sequence[Finished]) -> Sequence[Comparison]:
    """Return the barriers of each step of the merge 0 + 1 + …, and those of some pairs."""
    steps, pairs = [], []
    for condition, row in finished_rows(conditions, finished):
        labels = {name: condition.labels[name] for name in ("data", "net", "pruned")}
        for path in row["paths"]:
            barrier = Quantity.of_sample(barriers(path))
            connected = Quantity(sum(one <= TOLERANCE for one in barriers(path)), of=len(path["test"]))
            if path["kind"] == "step":
                steps.append(Cell(labels, f"+ {path['second'][0]}", barrier))
            else:
                pair = labels | {"|R|": condition.size, "pair": _named(path)}
                pairs += [Cell(pair, "barrier (%)", barrier), Cell(pair, "connected", connected)]
    found = (
        Comparison("Barriers of each step of the complete merge (%)", steps, NOTE, digits=1),
        Comparison("Barriers between pairs", pairs, PAIRS_NOTE, digits=1),
    )
    return [table for table in found if table.cells]


def barriers(path: dict[str, Any]) -> list[float]:
    """Return the barrier of each seed, in percent.

    Examples
    --------
    >>> barriers({"test": [[0.0, -3.0, 0.0], [0.0, 1.5, 0.0]]})
    [0.0, 1.5]
    """
    return [max(value for value in values if value is not None) for values in path["test"]]


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Draw the paths of each step, and of pairs."""
    rows = finished_rows(conditions, finished)
    for condition, row in rows:
        steps = [path for path in row["paths"] if path["kind"] == "step"]
        if steps and as_drawn(condition) and (condition.data, condition.model) in DRAWN:
            yield f"steps-{condition.data}-{condition.model}", _figure(steps)
    pairs = [
        path for one, row in rows if not one.as_printed for path in row["paths"] if path["kind"] == "pair"
    ]
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
    ax.axhline(TOLERANCE, color=GREY, linestyle="--", linewidth=0.8, label=f"{TOLERANCE:g} %")
    ax.set_xticks([0, 0.5, 1], ["0", "½", "1"])
    ax.tick_params(labelsize=7)
    ax.set_title(_named(path), fontsize=8)
    plain_frame(ax)


def _named(path: dict[str, Any]) -> str:
    first, second = ("".join(str(number) for number in path[end]) for end in ("first", "second"))
    return f"{{{first}}} → {{{second}}}"


RECIPE = Recipe(
    name="connectivity",
    paper="maxent",
    title="The loss on the way from one network over their sum to the other",
    shows="Figures 5 and 22 to 24",
    units=units,
    tables=tables,
    figures=figures,
)
