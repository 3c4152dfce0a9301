"""Figures of how clusterable networks are, each beside its shuffled copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...plotting import GREY, LINE_COLOURS, plain_frame
from ..unit import Row

_SPREAD = 0.6
"""How much of the room of a condition its networks take."""
_SMALL_P = 0.05


Places = Sequence[tuple[str, Row | None]]
"""What stands beside one another in a panel: names, and what was measured of the networks there, if anything was."""


def ncut_figure(panels: Mapping[str, Places], heading: str = "") -> Figure:
    """Draw the n-cut of every network beside those of its shuffled copies: a panel for each title."""
    figure, axes = _new_panels({title: len(places) for title, places in panels.items()})
    for ax, places in zip(axes, panels.values(), strict=True):
        for place, (_, found) in enumerate(places):
            if found:
                _draw_networks(ax, place, found)
        _draw_names(ax, [name for name, _ in places])
    if heading:
        figure.suptitle(heading, fontsize=11)
    return figure


def _new_panels(places: Mapping[str, int]) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each title, with room for a number of places, and one legend for all."""
    widths = [max(3.0, 0.95 * count) for count in places.values()]
    figure = Figure(figsize=(max(6.0, 0.8 + sum(widths)), 4.2), layout="constrained")
    panels = list(figure.subplots(1, len(places), squeeze=False, width_ratios=widths)[0])
    for ax, title in zip(panels, places, strict=True):
        ax.set_title(title, fontsize=9)
        plain_frame(ax)
    panels[0].set_ylabel("n-cut (lower: more clusterable)")
    figure.legend(handles=_legend(), loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return figure, panels


def _draw_networks(ax: Axes, place: int, found: Row) -> None:
    """Draw networks that were measured at a place.

    Each is a coloured point, filled if its p-value is below .05. The grey bar beside it is the mean of its copies with
    two standard deviations to either side.
    """
    colour = LINE_COLOURS[place % len(LINE_COLOURS)]
    networks = len(found["ncut"])
    for number in range(networks):
        at = place + _SPREAD * ((number + 0.5) / networks - 0.5)
        mean, spread = found["dist_ncut"][number], found["dist_sd"][number]
        if mean is not None:
            ax.errorbar(at + 0.04, mean, yerr=2 * spread, color=GREY, linewidth=1.5, marker="_", markersize=5)
        p_value = found["p_value"][number]
        small = p_value is not None and p_value < _SMALL_P
        ax.plot(
            at - 0.04, found["ncut"][number], "o", markersize=5, color=colour,
            markerfacecolor=colour if small else "white",
        )  # fmt: skip


def _draw_names(ax: Axes, names: Sequence[str]) -> None:
    """Write what stands at each place."""
    long = sum(map(len, names)) > 40
    ax.set_xticks(range(len(names)), names, fontsize=8, rotation=30 * long, ha="right" if long else "center")
    ax.set_xlim(-0.6, len(names) - 0.4)


def _legend() -> list[Line2D]:
    point = partial(Line2D, [], [], linestyle="none", color=LINE_COLOURS[0], marker="o", markersize=5)
    return [
        point(label=f"network, p < {_SMALL_P}"),
        point(markerfacecolor="white", label=f"network, p ≥ {_SMALL_P}"),
        Line2D([], [], color=GREY, label="its shuffled copies: mean ± 2 sd"),
    ]
