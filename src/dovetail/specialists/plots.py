"""Pictures of what was measured, with matplotlib: one function for each kind of result.

Each draws into ``ax``, or into a new figure when there is none, and returns the axes. Nothing is shown or saved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from torch import Tensor

from ..errors import unknown_name
from ..plotting import GREY, line_colours, new_axes, plain_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D

    from ..population import History
    from .audit import DropAudit
    from .curve import MergeCurve
    from .evaluate import Score
    from .paths import Connectivity


PerClass = Literal["accuracy", "entropy", "leakage"]

REWARDED_COLOUR, OTHER_COLOUR = "#E69F00", "#0072B2"

MOST_COUNTS = 12
"""Classes up to which a confusion matrix has its counts written in."""
MOST_NAMES = 25
"""Classes, or curves, up to which every one has its name beside it."""

NOTHING_TO_SHOW = "no class has a value"

PER_CLASS_LABELS = {
    "accuracy": "accuracy (share of samples)",
    "entropy": "mean entropy (nats)",
    "leakage": "leakage (probability beyond |R|/|C|)",
}
HISTORY_LABELS = {
    "rewarded_accuracy": "rewarded accuracy (share of samples)",
    "entropy": "entropy on other classes (nats)",
    "loss": "validation loss (nats)",
    "train_loss": "training loss (nats)",
}


def plot_confusion(score: Score, ax: Axes | None = None) -> Axes:
    """Draw a confusion matrix: colours are shares of a row, rewarded classes have bold names.

    Examples
    --------
    >>> import torch
    >>> from dovetail.specialists.evaluate import score_logits
    >>> (score,) = score_logits(torch.eye(3)[None] * 9, torch.arange(3), [(0, 1)], ["a", "b", "c"])
    >>> plot_confusion(score).get_ylabel()
    'true class'
    """
    ax = ax or new_axes()
    shares = row_shares(score.confusion)
    image = ax.imshow(shares.numpy(), cmap="Blues", vmin=0, vmax=1)
    ax.figure.colorbar(image, ax=ax, label="share of the true class")
    if len(score.classes) <= MOST_COUNTS:
        for row, counts in enumerate(score.confusion.tolist()):
            for column, count in enumerate(counts):
                dark = float(shares[row, column]) > 0.5
                colour = "white" if dark else "black" if count else "#B0B0B0"
                ax.text(column, row, str(count), color=colour, ha="center", va="center", fontsize=8)
    _name_classes(ax.xaxis, score)
    _name_classes(ax.yaxis, score)
    ax.set(xlabel="largest output", ylabel="true class")
    return ax


def plot_connectivity(paths: Sequence[Connectivity], ax: Axes | None = None) -> Axes:
    """Draw the relative loss along paths between specialists, and how much of it counts as connected.

    Examples
    --------
    >>> import torch
    >>> from dovetail.specialists import Connectivity
    >>> t = torch.tensor([0.0, 0.5, 1.0])
    >>> plot_connectivity([Connectivity("3", "8", t, t + 1, torch.tensor([0.0, 1.5, 0.0]))]).get_title()
    '3 → 8'
    """
    ax = ax or new_axes()
    names = [f"{shortened(path.first)} → {shortened(path.second)}" for path in paths]
    lines = [
        ax.plot(path.t.numpy(), path.relative.numpy(), color=colour)[0]
        for path, colour in zip(paths, line_colours(len(paths)), strict=True)
    ]
    for tolerance in {path.tolerance for path in paths}:
        _reference_line(ax, tolerance, f"tolerance: {tolerance:g} %")
    if len(names) == 1:
        ax.set_title(names[0], parse_math=False)
    elif len(names) <= MOST_NAMES:
        _legend_beside(ax, lines, names)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0\nfirst", "¼", "½\nsum", "¾", "1\nsecond"])
    ax.set(xlim=(0, 1), xlabel="t, place on the path", ylabel="loss above the straight line (%)")
    return plain_frame(ax)


def plot_merge_curve(curves: Mapping[str, MergeCurve], ax: Axes | None = None) -> Axes:
    """Draw rewarded accuracy over the number of specialists merged: the mean of all runs, and a band of ± 1 sd.

    Examples
    --------
    >>> import torch
    >>> from dovetail.specialists import MergeCurve
    >>> accuracy = torch.tensor([[1.0, 0.75], [1.0, 0.25]])
    >>> ax = plot_merge_curve({"sum": MergeCurve((("0", "1"), ("1", "0")), (0, 0), accuracy, accuracy)})
    >>> ax.lines[0].get_ydata().tolist()
    [1.0, 0.5]
    """
    from matplotlib.ticker import MaxNLocator

    ax, lines = ax or new_axes(), []
    for curve, colour in zip(curves.values(), line_colours(len(curves)), strict=True):
        merged = range(1, curve.accuracy.shape[1] + 1)
        mean, sd = curve.accuracy.mean(0), spread(curve.accuracy)
        lines += ax.plot(merged, mean.numpy(), color=colour, marker="o", markersize=4)
        ax.fill_between(
            merged, (mean - sd).numpy(), (mean + sd).numpy(), color=colour, alpha=0.2, linewidth=0
        )
    if list(curves) != [""]:
        _legend_beside(ax, lines, list(curves))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="specialists merged", ylabel="rewarded accuracy (mean ± sd)")
    return plain_frame(ax)


def plot_probes(audit: DropAudit, ax: Axes | None = None) -> Axes:
    """Draw how well a linear probe tells the dropped class from the others, for each network of the audit.

    Examples
    --------
    >>> from dovetail.specialists import DropAudit
    >>> ax = plot_probes(DropAudit(("3",), {}, {"composite without it": 0.9, "raw inputs": 0.8}, True, True))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['composite without it', 'raw inputs']
    """
    ax = ax or new_axes()
    names, values = list(audit.probes), list(audit.probes.values())
    colours = [REWARDED_COLOUR if name == audit.without else OTHER_COLOUR for name in names]
    bars = ax.barh(range(len(names)), [value - 0.5 for value in values], left=0.5, color=colours)
    ax.bar_label(bars, [f"{value:.3f}" for value in values], padding=3)
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.invert_yaxis()
    ax.set_xlim(min([0.5, *values]), 1)
    ax.set_title(f"linear probe for {shortened(audit.names)} (chance: .5)", parse_math=False)
    ax.set_xlabel("balanced accuracy")
    return plain_frame(ax)


def plot_relearning(audit: DropAudit, ax: Axes | None = None) -> Axes:
    """Draw how fast networks of an audit learn the dropped class again, from the most samples of it.

    Examples
    --------
    >>> from dovetail.specialists import DropAudit, Relearning
    >>> curve = Relearning((5,), (0, 10), ((0.5, 0.9),))
    >>> ax = plot_relearning(DropAudit(("3",), {}, {}, True, True, relearning={"composite without it": curve}))
    >>> ax.lines[0].get_ydata().tolist()
    [0.5, 0.9]
    """
    ax, lines = ax or new_axes(), []
    for found, colour in zip(audit.relearning.values(), line_colours(len(audit.relearning)), strict=True):
        lines += ax.plot(found.steps, found.accuracy[-1], color=colour, marker="o", markersize=4)
    if audit.whole in audit.scores:
        _reference_line(ax, audit.level, "learnt again")
    _legend_beside(ax, lines, list(audit.relearning))
    ax.set_xscale("symlog", linthresh=1)
    ax.set_title(f"learning {shortened(audit.names)} again", parse_math=False)
    ax.set(xlabel="steps", ylabel="accuracy on it and on the others, mean")
    return plain_frame(ax)


def plot_history(
    histories: Sequence[History], name: str = "rewarded_accuracy", ax: Axes | None = None
) -> Axes:
    """Draw how training went: a value's mean over the members still training, a line for each round.

    Parameters
    ----------
    histories : sequence of History
        One for each round, as in ``team.histories``.
    name : str
        A value that they hold: ``"rewarded_accuracy"``, ``"entropy"``, ``"loss"`` or ``"train_loss"``.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> from dovetail.population import History
    >>> history = History.empty((0, 1), 2, ["loss"])
    >>> history["loss"][:] = 1.0
    >>> plot_history([history], "loss").get_ylabel()
    'validation loss (nats)'
    """
    from matplotlib.ticker import MaxNLocator

    for history in histories:
        if name not in history.values:
            raise unknown_name("value of a history", name, history.values)
    ax, lines = ax or new_axes(), []
    for history, colour in zip(histories, line_colours(len(histories)), strict=True):
        means = history[name].nanmean(1)
        lines += ax.plot(range(1, len(means) + 1), means.numpy(), color=colour, marker="o", markersize=3)
    if len(histories) > 1:
        _legend_beside(ax, lines, [f"round {number}" for number in range(1, len(histories) + 1)])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="epochs trained", ylabel=HISTORY_LABELS.get(name, name))
    return plain_frame(ax)


def _reference_line(ax: Axes, height: float, label: str) -> None:
    ax.axhline(height, color=GREY, linestyle="--", linewidth=1)
    ax.annotate(label, (1, height), xycoords=("axes fraction", "data"), xytext=(0, 4), textcoords="offset points",
                ha="right", color="#555555", fontsize=9,
                bbox={"color": "white", "alpha": 0.7, "pad": 0.5})  # fmt: skip


def _legend_beside(ax: Axes, lines: Sequence[Line2D], names: Sequence[str]) -> None:
    """Name lines at the right of the axes, where nothing is hidden."""
    legend = ax.legend(lines, names, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)  # a name may have a $ in it


def _name_classes(axis: Axis, score: Score) -> None:
    """Write class names at an axis, those of rewarded classes in bold; of very many, some."""
    shown = range(0, len(score.classes), math.ceil(len(score.classes) / MOST_NAMES))
    names = [shortened(score.classes[number]) for number in shown]
    axis.set_ticks(list(shown), names, parse_math=False)
    if axis is axis.axes.xaxis and sum(map(len, names)) > 40:
        axis.set_tick_params(rotation=90)
    for number, label in zip(shown, axis.get_ticklabels(), strict=True):
        label.set_fontweight("bold" if number in score.rewarded else "normal")


def shortened(text: str, most: int = 18) -> str:
    """Return a text with its middle left out where it is too long to stand in a picture.

    Examples
    --------
    >>> shortened("0, 1, 2, 3, 4, 5, 6, 7, 8")
    '0, 1, 2, … 6, 7, 8'
    """
    if len(text) <= most:
        return text
    end = (most - 2) // 2
    return f"{text[: most - 2 - end].rstrip()} … {text[-end:].lstrip(' ,')}"


def row_shares(counts: Tensor) -> Tensor:
    """Return counts as shares of their row; 0 in a row without any.

    Examples
    --------
    >>> import torch
    >>> row_shares(torch.tensor([[3, 1], [0, 0]]))
    tensor([[0.7500, 0.2500],
            [0.0000, 0.0000]], dtype=torch.float64)
    """
    return counts.double() / counts.sum(1, keepdim=True).clamp(min=1)


def spread(runs: Tensor) -> Tensor:
    """Return the sd over runs, the first dimension; 0 when there is only one.

    Examples
    --------
    >>> import torch
    >>> spread(torch.tensor([[1.0, 2.0], [1.0, 4.0]]))
    tensor([0.0000, 1.4142])
    """
    return runs.std(0) if len(runs) > 1 else runs[0] * 0


def per_class_values(score: Score, what: PerClass) -> list[float]:
    """Return a value for each class, NaN where there is none.

    Examples
    --------
    >>> import torch
    >>> from dovetail.specialists.evaluate import score_logits
    >>> (score,) = score_logits(torch.eye(3)[None] * 9, torch.arange(3), [(0, 1)], ["a", "b", "c"])
    >>> per_class_values(score, "accuracy")
    [1.0, 1.0, 1.0]
    """
    if what not in get_args(PerClass):
        raise unknown_name("value of a class", what, get_args(PerClass))
    values = {"accuracy": score.class_accuracy, "entropy": score.class_entropy, "leakage": score.leakage}
    return [float(value) for value in values[what]]
