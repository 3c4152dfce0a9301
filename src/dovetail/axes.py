"""Axes that pictures are drawn on: new ones where none are given, and a frame without its top and right sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes(size: tuple[float, float] | None = None) -> Axes:
    """Return the axes of a new figure, of a size in inches if one is given."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def plain_frame(ax: Axes) -> Axes:
    """Take the top and right sides of the frame away; return the axes."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax
