"""A picture of how a network shrank."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from ..plotting import GREY, LINE_COLOURS, new_axes, plain_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .sculpture import Sculpture


def plot_history(sculpture: Sculpture, ax: Axes | None = None) -> Axes:
    """Draw the units and edges left after every accepted step, by the round of training in which it was accepted.

    Parameters
    ----------
    sculpture : Sculpture
        A sculpted network.
    ax : Axes, optional
        Where to draw; a new figure by default.
    """
    ax = ax or new_axes((6, 3.5))
    trainings, offset = [], 0
    for step, following in zip_longest(sculpture.history, sculpture.history[1:]):
        trainings.append(offset + step.round)
        if following is not None and following.phase != step.phase:
            offset += step.round
            ax.axvline(offset + 0.5, color=GREY, linewidth=0.8, linestyle=":")
    for values, name, colour in (
        ([step.edges for step in sculpture.history], "edges", LINE_COLOURS[0]),
        ([step.units for step in sculpture.history], "hidden units", LINE_COLOURS[1]),
    ):
        ax.step(trainings, values, where="post", marker="o", markersize=3, color=colour, label=name)
    ax.set_yscale("log")
    ax.set_xlabel("round of training (dense, units, edges)")
    ax.set_ylabel("left")
    ax.set_title(f"{sculpture.task}, seed {sculpture.seed}", parse_math=False)
    ax.legend(frameon=False)
    return plain_frame(ax)
