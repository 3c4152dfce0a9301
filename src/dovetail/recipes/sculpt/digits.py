"""Two digits side by side: networks that should fall into one module for each, and the bits of their exclusive or."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..line import FilledTable, Line, LineTable, Rows, units_of
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Row, Unit
from .charts import network_pictures, success_bars
from .columns import count, published_count, sample, trials_in, values
from .settings import pair_trials

_WIDTHS: dict[Scale, Sequence[int]] = {"paper": (392, 784, 1568), "smoke": (24,)}
_DEPTHS: dict[Scale, Sequence[int]] = {"paper": (2, 3, 4), "smoke": (1,)}
_CHANGES: dict[Scale, dict[str, Any]] = {
    "paper": {"threshold": 0.99},
    "smoke": {"threshold": 0.95, "lr": 0.01, "batch_size": 64, "epochs": 5},
}
_PUBLISHED = dict.fromkeys(("two modules", "as planted"), Quantity(33, of=36))
"""From the text of section 5.5, for all depths together."""


def _two_digits(scale: Scale) -> list[LineTable]:
    """Return a line for each depth, all widths and seeds, and one for all of them."""
    by_depth = [
        Line(
            {"hidden layers": depth},
            [pair_trials(scale, "two-digits", width, depth, **_CHANGES[scale]) for width in _WIDTHS[scale]],
        )
        for depth in _DEPTHS[scale]
    ]
    whole = Line({"hidden layers": "all"}, units_of(by_depth), _PUBLISHED if scale == "paper" else {})
    note = (
        "Success in the paper is 'two completely separable modules'. *As planted*: every pixel that is used is in the "
        "module of its digit. *Crossing* is the share of path products from the pixels of one digit to the outputs of "
        "the other, ½ without structure. Differences from the paper: one cell of the grid (units 50 %, edges 2.5 %) "
        "instead of 70, and no source image is in both splits."
    )
    return [LineTable("Two digits", [*by_depth, whole], _two_digits_columns, note, digits=2)]


def _two_digits_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    trials = trials_in(rows)
    two = sum(len(trial["modules"]) == 2 for trial in trials)
    return {
        "two modules": Quantity(two, of=len(trials)) if trials else None,
        "as planted": count(trials, "full", "whole"),
        "inputs": count(trials, "full", "inputs"),
        "outputs": count(trials, "full", "outputs"),
        "crossing": Quantity.of_sample([crossing(trial) for trial in trials]),
        "edges": sample(trials, "edges"),
    }


def crossing(trial: Row) -> float:
    """Return the share of path products that lead from one digit's pixels to the other digit's outputs."""
    own, other = (sum(trial["separability"][name]) for name in ("own", "other"))
    return float(other / (own + other))


def _two_digits_charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw success rates beside the published one, and found networks."""
    yield "success", success_bars(filled[0].cells(_PUBLISHED), x="hidden layers", panel="metric")
    yield from network_pictures(filled[0].lines[:-1], column="hidden layers", size=(5.0, 4.2))


TWO_DIGITS = Recipe(
    "two-digits",
    "sculpt",
    "Does a network for two digits fall into two modules?",
    "Section 5.5 (networks: Figure 32)",
    _two_digits,
    _two_digits_charts,
)

_XOR_WIDTHS: dict[Scale, Sequence[int]] = {"paper": (784, 392, 1568), "smoke": (24,)}
_XOR_DEPTHS: dict[Scale, Sequence[int]] = {"paper": (4, 5, 2, 3), "smoke": (2,)}
"""In the order in which units are done: first those that say most."""

_XOR_PAPER: dict[str, Any] = {"noise": 0.4}
_XOR_BEFORE = {"epochs": 40}
_XOR_SMOKE: dict[str, Any] = {
    "noise": 0.2, "epochs": 10, "lr": 0.01, "batch_size": 128, "threshold": 0.85, "edge_steps": [0.03],
}  # fmt: skip
_XOR_SEEDS: dict[Scale, Sequence[list[int]]] = {"paper": ([0, 1], [2, 5]), "smoke": ([0],)}
_XOR_SEEDS_BEFORE = {(0, 1): [0, 1], (2, 5): [2, 3]}
"""Two seeds a unit: four of the widest networks would take more than ten minutes."""
_XOR_PROPERTIES = {"inputs": "input_separable", "outputs": "output", "middle": "middle"}


def _xor_units(scale: Scale, depth: int) -> list[Unit]:
    # With source images kept apart, dense networks of two hidden layers reach 97.9 %, not the 98 % that the paper asks.
    threshold = 0.98 if depth > 3 else 0.975
    if scale == "smoke":
        return [
            pair_trials(scale, "digit-xor", width, depth, seeds=seeds, **_XOR_SMOKE)
            for width in _XOR_WIDTHS[scale]
            for seeds in _XOR_SEEDS[scale]
        ]
    return [
        pair_trials(
            scale, "digit-xor", width, depth, {**_XOR_BEFORE, "seeds": _XOR_SEEDS_BEFORE[seeds[0], seeds[1]]},
            seeds=seeds, threshold=threshold, **_XOR_PAPER,
        )
        for width in _XOR_WIDTHS[scale]
        for seeds in _XOR_SEEDS[scale]
    ]  # fmt: skip


def _hierarchy(scale: Scale) -> list[LineTable]:
    """Return a line for each depth: all widths and seeds."""
    lines = [
        Line(
            {"hidden layers": depth},
            _xor_units(scale, depth),
            {
                name: published_count(scale, "13", hidden_layers=depth, property=published)
                for name, published in _XOR_PROPERTIES.items()
            },
        )
        for depth in sorted(_XOR_DEPTHS[scale])
    ]
    note = (
        "*Inputs*: the pixels of the two digits are in two modules; *outputs*: the three bits are in three; *middle*: "
        "all hidden units belong to one of these. Networks that did not learn the task count as failures. Differences "
        "from the paper: noise of standard deviation 0.4 on training inputs, without which networks do not reach 98 % "
        "(97.5 % is asked of two and three hidden layers); source images kept apart between the splits; one cell of "
        "the grid (units 50 %, edges 2.5 %) instead of 70."
    )
    return [LineTable("Figure 13: exclusive or of two digits", lines, _hierarchy_columns, note)]


def _hierarchy_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    trials = trials_in(rows)
    learned = [outcome != "not learned" for outcome in values(trials, "outcome")]
    return {
        **{name: count(trials, "full", name) for name in _XOR_PROPERTIES},
        "learned": Quantity(sum(learned), of=len(learned)) if learned else None,
        "accuracy": sample(trials, "accuracy"),
        "edges": sample(trials, "edges"),
    }


def _hierarchy_charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw success rates beside the published ones, and found networks."""
    yield "success", success_bars(filled[0].cells(_XOR_PROPERTIES), x="hidden layers", panel="metric")
    yield from network_pictures(filled[0].lines, column="hidden layers", size=(5.0, 4.2))


def _most_telling_first(scale: Scale) -> list[Unit]:
    in_turn = zip(*(_xor_units(scale, depth) for depth in _XOR_DEPTHS[scale]), strict=True)
    return [unit for units in in_turn for unit in units]


HIERARCHY = Recipe(
    "hierarchy",
    "sculpt",
    "Is the hierarchy found in a task on two digits?",
    "Figure 13 (networks: Figure 33)",
    _hierarchy,
    _hierarchy_charts,
    order=_most_telling_first,
)

RECIPES = (TWO_DIGITS, HIERARCHY)
