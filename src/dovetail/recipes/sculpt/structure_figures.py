"""The structure tests drawn: path products, p-values, and units that carry most of them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from ...plotting import GREY, LINE_COLOURS, plain_frame
from ..unit import Row
from .lines import Line, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEAST_P = 1e-8
"""Smaller p-values, 0 among them, are drawn here."""

_PLANTED_UNITS = (3, 2)
"""What the reused function needs in its two layers."""


def draw_path_products(lines: Sequence[tuple[Line, list[Row]]]) -> Figure:
    """Draw the path products of one network of each kind, of the most layers (Figures 1b, 3a, 4a)."""
    from matplotlib.figure import Figure

    examples: dict[str, tuple[Line, Row]] = {}
    for line, rows in lines:
        kind = _kind(line)
        if rows and (kind not in examples or _layers(examples[kind][0]) < _layers(line)):
            examples[kind] = line, rows[0]
    figure = Figure(figsize=(0.9 + 2.4 * len(examples), 2.9), layout="constrained")
    axes = figure.subplots(1, len(examples), squeeze=False)[0]
    for ax, (kind, (line, row)) in zip(axes, examples.items(), strict=True):
        products = row["example"]["products"]
        image = ax.imshow(products, vmin=0, cmap="Blues")
        ax.set_xticks(range(len(products[0])), [f"x{number + 1}" for number in range(len(products[0]))])
        ax.set_yticks(range(len(products)), [f"y{number + 1}" for number in range(len(products))])
        ax.set_title(f"{kind}, {_layers(line)} × {_width(line)}", fontsize="medium")
        bar = figure.colorbar(image, ax=ax, shrink=0.7, label="path product" if ax is axes[-1] else "")
        bar.ax.tick_params(labelsize="x-small")
    return figure


def draw_p_values(lines: Sequence[tuple[Line, list[Row]]]) -> Figure:
    """Draw the larger p-value of every network by depth; below the line both tests reject (Figures 34 to 36)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.2), layout="constrained")
    ax = plain_frame(figure.subplots())
    kinds = list(dict.fromkeys(_kind(line) for line, _ in lines))
    depths = sorted({_layers(line) for line, _ in lines})
    for number, kind in enumerate(kinds):
        for depth in depths:
            trials = [
                trial
                for line, rows in lines
                if (_kind(line), _layers(line)) == (kind, depth)
                for row in rows
                for trial in row["trials"]
            ]
            found = [max(*pair, _LEAST_P) for pair in values(trials, "separability", "p")]
            middle = depth + (number - (len(kinds) - 1) / 2) * 0.27
            across = [middle + 0.015 * (place - (len(found) - 1) / 2) for place in range(len(found))]
            label = kind if depth == depths[0] else None
            ax.scatter(across, found, s=16, alpha=0.7, color=LINE_COLOURS[number], label=label, linewidths=0)
    ax.axhline(0.05, color=GREY, linewidth=0.8, linestyle="--")
    ax.text(depths[-1] + 0.5, 0.05, "5 %", va="bottom", ha="right", fontsize="small", color=GREY)
    ax.set_yscale("log")
    ax.set_ylim(_LEAST_P / 2, 2)
    ax.set_xticks(depths)
    ax.set_xlim(depths[0] - 0.5, depths[-1] + 0.5)
    ax.set_xlabel("hidden layers")
    ax.set_ylabel("larger p of both tests")
    figure.legend(loc="outside right upper", frameon=False, fontsize="small")
    return figure


def draw_carrying_units(lines: Sequence[tuple[Line, list[Row]]]) -> Figure:
    """Draw how many units of each layer carry 90 % by width, with the number that the task needs (2b, 3b, 4b)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.6, 3.2), layout="constrained")
    axes = figure.subplots(1, len(_PLANTED_UNITS), sharey=True)
    widths = sorted({_width(line) for line, _ in lines})
    for layer, (ax, planted) in enumerate(zip(axes, _PLANTED_UNITS, strict=True)):
        plain_frame(ax)
        ax.plot(widths, widths, color=GREY, linewidth=0.8, linestyle=":", label="all units")
        ax.axhline(planted, color=GREY, linewidth=0.8, linestyle="--", label="planted")
        for kind, colour in zip(dict.fromkeys(_kind(line) for line, _ in lines), LINE_COLOURS, strict=False):
            needed = {
                _width(line): [units[layer] for units in values(trials, "needed")]
                for line, trials in lines
                if _kind(line) == kind and trials
            }
            ax.plot(list(needed), [fmean(units) for units in needed.values()], color=colour, label=kind)
            for width, units in needed.items():
                ax.scatter([width] * len(units), units, s=12, color=colour, alpha=0.5, linewidths=0)
        ax.set_xticks(widths)
        ax.set_xlabel("width")
        ax.set_title(f"hidden layer {layer + 1}", fontsize="medium")
    axes[0].set_ylim(0, None)
    axes[0].set_ylabel("units that carry 90 %")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize="small"
    )
    return figure


def _kind(line: Line) -> str:
    return str(line.labels["networks"])


def _layers(line: Line) -> int:
    return int(str(line.labels["hidden layers"]))


def _width(line: Line) -> int:
    return int(str(line.labels["width"]))
