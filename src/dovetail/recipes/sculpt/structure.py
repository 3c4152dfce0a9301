"""Section 2: the structure of the task in the weights of dense, edge-pruned and sculpted networks."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ...plotting import GREY, LINE_COLOURS, plain_frame
from ..line import FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Row, Unit
from .columns import count, published_word, trials_in, values
from .settings import VALIDATION, WIDTHS, boolean_trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS: dict[str, dict[str, Any]] = {
    "dense": {"unit_steps": [], "edge_steps": [], "choices": None},
    "edge-pruned": {"unit_steps": [], "choices": None},
    "sculpted": {},
}
"""What is pruned; sculpted networks lose units, then edges, and are those of `validation`."""

_DEPTHS: dict[Scale, Sequence[int]] = {"paper": (1, 2, 3), "smoke": (1, 2)}
_REUSED_DEPTH = 2
_LEAST_P = 1e-8
"""Smaller p-values, 0 among them, are drawn here."""

_PLANTED_UNITS = (3, 2)
"""What the reused function needs in its two layers."""


def _trials(scale: Scale, kind: str, structure: str, width: int, depth: int) -> Unit:
    return boolean_trials(scale, VALIDATION[structure], width, depth, **KINDS[kind])


_TESTS, _CARRY = "Table 1: networks that show separable inputs", "Figures 2 to 4: units that carry 90 %"


def _lines(scale: Scale) -> list[LineTable]:
    """Return a line for each kind of network and architecture, for separable inputs, and for a reused function."""
    separable = [
        Line(
            {"networks": kind, "hidden layers": depth, "width": width},
            [_trials(scale, kind, "input separable", width, depth)],
            _published(depth, width) if scale == "paper" and kind == "dense" else {},
        )
        for kind in KINDS
        for depth in _DEPTHS[scale]
        for width in WIDTHS[scale]
    ]
    reused = [
        Line(
            {"networks": kind, "width": width},
            [_trials(scale, kind, "reused", width, _REUSED_DEPTH)],
        )
        for kind in KINDS
        for width in WIDTHS[scale]
    ]
    note_tests = (
        "[4,2,4]: one-sided Welch tests that outputs are linked more weakly to inputs that they do not need, at 5 %. "
        "Table 1 has one dense network a cell; of pruned ones the paper says that they reject."
    )
    note_carry = (
        "[4,1,2,16]: the fewest units of a hidden layer that carry 90 % of the path products to the outputs. The "
        "function needs 3 and 2. The paper shows these as figures only (2b, 3b, 4b)."
    )
    return [
        LineTable(_TESTS, separable, _test_columns, note_tests, digits=2),
        LineTable(_CARRY, reused, _carry_columns, note_carry, digits=1),
    ]


def _published(depth: int, width: int) -> dict[str, Quantity]:
    word = published_word(1, "input separable", hidden_layers=depth, width=width)
    return {"both reject": Quantity(int(word == "rejected"), of=1)}


def _test_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    trials = trials_in(rows)
    return {
        "both reject": count(trials, "separability", "rejected"),
        "larger p": Quantity.of_sample([max(pair) for pair in values(trials, "separability", "p")]),
    }


def _carry_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    trials = trials_in(rows)
    by_layer = zip(*values(trials, "needed"), strict=True) if trials else [()] * _REUSED_DEPTH
    return {f"layer {number}": Quantity.of_sample(needed) for number, needed in enumerate(by_layer, 1)}


def _charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw path products of examples, p-values by depth, and units that carry 90 % by width."""
    for table in filled:
        if not table.begun:
            continue
        if table.title == _TESTS:
            yield "path-products", _draw_path_products(table.lines)
            yield "p-values", _draw_p_values(table.lines)
        else:
            yield "units", _draw_carrying_units(table.lines)


def _draw_path_products(lines: Sequence[tuple[Line, Rows]]) -> Figure:
    """Draw the path products of one network of each kind, of the most layers (Figures 1b, 3a, 4a)."""
    from matplotlib.figure import Figure

    examples: dict[str, tuple[Line, Row]] = {}
    for line, rows in lines:
        kind = _kind(line)
        if rows[0] and (kind not in examples or _layers(examples[kind][0]) < _layers(line)):
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


def _draw_p_values(lines: Sequence[tuple[Line, Rows]]) -> Figure:
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
                for trial in trials_in(rows)
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


def _draw_carrying_units(lines: Sequence[tuple[Line, Rows]]) -> Figure:
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
                for line, rows in lines
                if _kind(line) == kind and (trials := trials_in(rows))
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


RECIPES = (
    Recipe(
        "structure",
        "sculpt",
        "What training alone does not give: structure in the weights of dense and pruned networks",
        "Figures 1 to 4, Table 1, Figures 34 to 36",
        _lines,
        _charts,
    ),
)
