"""Drawings that recipes of this paper share: panels, merge curves and confusion matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...plotting import plain_frame
from ..unit import Row
from .rows import steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXIS_LABELS = {"accuracy": "rewarded accuracy", "entropy": "entropy on other classes (nats)"}


def panels(
    count: int, *, columns: int = 4, size: tuple[float, float] = (3.4, 3.0), **options: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a number of panels, and the panels; what is left of the last row stays empty."""
    from matplotlib.figure import Figure

    columns = min(columns, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False, **options).flat)
    for ax in axes[count:]:
        ax.set_visible(False)
    return figure, axes[:count]


def draw_steps(ax: Axes, row: Row, metric: str, *, label: str, colour: str, dashed: bool = False) -> None:
    """Draw a metric over the number of specialists merged: the mean, and a band of ± 1 sd."""
    from matplotlib.ticker import MaxNLocator

    means, spreads = zip(*steps(row, metric), strict=True)
    merged = range(1, len(means) + 1)
    ax.plot(merged, means, "--" if dashed else "-", color=colour, marker="o", markersize=3, label=label)
    low, high = ([m + sign * s for m, s in zip(means, spreads, strict=True)] for sign in (-1, 1))
    ax.fill_between(merged, low, high, color=colour, alpha=0.12, linewidth=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="specialists merged", ylabel=AXIS_LABELS[metric])
    if metric == "accuracy":
        ax.set_ylim(top=1.02)
    plain_frame(ax)


def draw_confusion(ax: Axes, rewarded: Sequence[int], counts: Sequence[Sequence[int]]) -> None:
    """Draw a confusion matrix as shares of the true class; rewarded classes are marked at both sides."""
    shares = [[count / max(1, sum(row)) for count in row] for row in counts]
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(list(rewarded), [str(number) for number in rewarded], fontsize=7)
        axis.set_tick_params(length=0)


def steps_figure(lines: Sequence[tuple[str, Row]]) -> Figure:
    """Draw entropy and accuracy side by side over the number of specialists merged, a line for each label."""
    from ...plotting import line_colours

    figure, axes = panels(2, columns=2, size=(4.4, 3.2))
    for ax, metric in zip(axes, ("entropy", "accuracy"), strict=True):
        for (label, row), colour in zip(lines, line_colours(len(lines)), strict=True):
            draw_steps(ax, row, metric, label=label, colour=colour)
    axes[1].legend(frameon=False, fontsize=8)
    return figure
