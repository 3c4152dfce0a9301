"""Pictures of how clusters and specialists meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...plotting import GREY, LINE_COLOURS, plain_frame
from .findings import VIEWS, Composed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_agreement(found: Sequence[Composed]) -> Figure:
    """Draw every network's agreement with owners and favourite classes, a line of dots for each condition."""
    figure, panels = _panels(found)
    for view, ax in zip(VIEWS, panels, strict=True):
        own, liked, general = (
            [row[view][what]["agreement"] for row in rows]
            for rows, what in (
                ([one.composite for one in found], "owner"),
                ([one.composite for one in found], "favourite"),
                ([one.generalist for one in found], "favourite"),
            )
        )
        _dots(ax, own, "owners", LINE_COLOURS[0], "o", 0.2)
        _dots(ax, liked, "favourite classes", LINE_COLOURS[1], "D", 0)
        _dots(ax, general, "generalist, favourite classes", LINE_COLOURS[2], "s", -0.2)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(title=f"{view} graph" if view == "whole" else view, xlabel="adjusted Rand index (0: chance)")
        ax.set_xlim(-0.1, 1.05)
    _legend(figure, panels[0])
    return figure


def draw_ncuts(found: Sequence[Composed]) -> Figure:
    """Draw every composite's n-cut, that of its owners' partition, and where its shuffled copies are."""
    figure, panels = _panels(found)
    for view, ax in zip(VIEWS, panels, strict=True):
        means = [one.composite[view]["dist_ncut"] for one in found]
        for place, mean in enumerate(means):
            ax.plot([min(mean), max(mean)], [place, place], color=GREY, alpha=0.4, linewidth=9,
                    solid_capstyle="round", label="means of shuffled copies" if not place else None)  # fmt: skip
        own = [one.composite[view]["owner"]["ncut"] for one in found]
        _dots(ax, [one.composite[view]["ncut"] for one in found], "clusters found", LINE_COLOURS[0], "o", 0.1)
        _dots(ax, own, "owners", LINE_COLOURS[1], "D", -0.1)
        general = [one.generalist[view]["ncut"] for one in found]
        _dots(ax, general, "generalist, clusters found", LINE_COLOURS[2], "s", -0.28)
        ax.set(title=f"{view} graph" if view == "whole" else view, xlabel="n-cut (lower: more clusterable)")
    _legend(figure, panels[0])
    return figure


def draw_counts(found: Sequence[Composed]) -> Figure:
    """Draw, for the first network of each condition, how many hidden units of each owner are in each cluster."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.3 * len(found) + 0.8, 5.4), layout="constrained")
    axes = figure.subplots(len(VIEWS), len(found), squeeze=False)
    for row, view in enumerate(VIEWS):
        for ax, one in zip(axes[row], found, strict=True):
            counts = np.array(one.composite[view]["owner"]["counts"][0])
            ax.imshow(_along_diagonal(counts), cmap="Blues", vmin=0, vmax=counts.sum(1).max(), aspect="equal")
            ax.set_xticks([])
            ax.set_yticks([])
            ax.set_xlabel("cluster", fontsize=8)
            title = f"{one.labels['net'].removeprefix('mlp:')}, {one.labels['specialists']}"
            ax.set_title(f"{title}\nagreement {one.composite[view]['owner']['agreement'][0]:.2f}", fontsize=8)
        axes[row, 0].set_ylabel(f"{view}\nowner", fontsize=8)
    return figure


def _along_diagonal(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the columns in an order that puts as much as possible on the diagonal; clusters have no order."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(counts, maximize=True)
    rest = [column for column in range(counts.shape[1]) if column not in set(columns.tolist())]
    return counts[:, [*columns[np.argsort(rows)], *rest]]


def _panels(found: Sequence[Composed]) -> tuple[Figure, Sequence[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 1.6 + 0.45 * len(found)), layout="constrained")
    panels = figure.subplots(1, len(VIEWS), sharey=True)
    names = [f"{one.labels['data']}, {one.labels['net']}, {one.labels['specialists']}" for one in found]
    panels[0].set_yticks(range(len(found)), names)
    panels[0].set_ylim(len(found) - 0.5, -0.5)
    for ax in panels:
        plain_frame(ax)
        ax.grid(axis="y", color=GREY, alpha=0.2)
    return figure, panels


def _dots(
    ax: Axes, values: Sequence[Sequence[float]], name: str, colour: str, marker: str, lift: float
) -> None:
    """Draw the values of each condition in its line, a little above or below its middle."""
    x = [value for group in values for value in group]
    y = [place - lift for place, group in enumerate(values) for _ in group]
    ax.scatter(x, y, s=22, color=colour, marker=marker, alpha=0.75, linewidths=0, label=name, zorder=3)


def _legend(figure: Figure, ax: Axes) -> None:
    handles, names = ax.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), frameon=False)
