"""Pictures, what all of them share: colours, new axes, and a frame without its top and right sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which people who see few colours can tell apart; no yellow, which is faint on white.
LINE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#7F7F7F"


def line_colours(lines: int) -> list[str]:
    """Return a colour for each line: distinct ones for a few; for many a scale from violet over green to olive.

    Examples
    --------
    >>> line_colours(2)
    ['#0072B2', '#D55E00']
    >>> line_colours(7)
    ['#5e4fa2', '#4264a7', '#2e7aa0', '#21918c', '#40a86b', '#6bb648', '#a0b923']
    """
    if lines <= len(LINE_COLOURS):
        return list(LINE_COLOURS[:lines])
    return [_on_scale(place / (lines - 1)) for place in range(lines)]


def _on_scale(place: float) -> str:
    """Return the colour at a place from 0 to 1 on a scale that grows lighter, and can be seen on white and on black."""
    stops = ((94, 79, 162), (52, 110, 170), (33, 145, 140), (80, 180, 90), (160, 185, 35))
    below = min(int(place * (len(stops) - 1)), len(stops) - 2)
    weight = place * (len(stops) - 1) - below
    return "#" + "".join(
        f"{round(a + weight * (b - a)):02x}" for a, b in zip(stops[below], stops[below + 1], strict=True)
    )


def new_axes(size: tuple[float, float] | None = None) -> Axes:
    """Return the axes of a new figure, of a size in inches if one is given."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def plain_frame(ax: Axes) -> Axes:
    """Take the top and right sides of the frame away; return the axes."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax
