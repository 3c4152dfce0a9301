"""Figure 12: a hierarchy of five modules, in networks of more and more layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..recipe import Recipe, Scale
from ..tables import Comparison
from ..unit import Finished, Unit
from .charts import success_bars
from .lines import Line, count, sample, units_of, with_trials
from .pictures import network_pictures
from .settings import USES, boolean_trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTHS: dict[Scale, Sequence[int]] = {"paper": (36, 48, 60), "smoke": (16,)}
_DEPTHS: dict[Scale, Sequence[int]] = {"paper": (1, 2, 3, 4), "smoke": (2, 3)}
_USE_12A = 4
_USES = USES | {"smoke": (_USE_12A,)}
_CHANGES: dict[Scale, dict[str, Any]] = {"paper": {}, "smoke": {"seeds": [0], "edge_steps": [0.02]}}

_FUNCTIONS = {"inputs": "input_separable", "intermediate": "single_intermediate", "outputs": "output"}


def lines(scale: Scale) -> list[Line]:
    """Return a row for each use and depth: all widths and seeds."""
    return [
        Line(
            scale,
            {"use": use, "hidden layers": depth},
            [
                boolean_trials(scale, [8, 2, 1, 2, 2 * use], width, depth, **_CHANGES[scale])
                for width in _WIDTHS[scale]
            ],
        )
        for use in _USES[scale]
        for depth in _DEPTHS[scale]
    ]


def units(scale: Scale) -> list[Unit]:
    """Return all trials."""
    return units_of(lines(scale))


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return successes beside Figures 12a and 12b."""
    functions, whole = [], []
    for line, trials in with_trials(lines, finished):
        use, layers = line.labels["use"], line.labels["hidden layers"]
        if use == _USE_12A:
            functions += [
                line.cell(
                    name,
                    count(trials, "full", name),
                    line.printed(figure="12a", hidden_layers=layers, property=printed),
                )
                for name, printed in _FUNCTIONS.items()
            ]
        printed_whole = line.printed(figure="12b", hidden_layers=layers, use=use)
        whole += [
            line.cell("success", count(trials, "at_depth", "whole"), printed_whole),
            line.cell("edges", sample(trials, "edges")),
        ]
    note_functions = (
        f"Use {_USE_12A}: the paper does not say which it shows; of those in Figure 12b only this one goes with its "
        "numbers. *Intermediate* counts also where the outputs are part of that module; *outputs* are scored against "
        "the full structure."
    )
    note_whole = "With one or two hidden layers the structure is two input modules and one for all the rest."
    return [
        Comparison("Figure 12a: functions that are found", functions, note_functions, digits=2),
        Comparison("Figure 12b: the hierarchy that the depth allows", whole, note_whole, digits=2),
    ]


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Yield success rates beside the published ones, and found hierarchies."""
    functions, whole = tables(finished)
    if whole.cells:
        success = [cell for cell in whole.cells if cell.metric == "success"]
        yield "functions", success_bars(functions.cells, x="hidden layers", panel="metric")
        yield "hierarchy", success_bars(success, x="use", panel="hidden layers")
        yield from network_pictures(lines, finished, row="use", column="hidden layers")


RECIPE = Recipe(
    name="depth",
    paper="sculpt",
    title="Which hierarchy is found with how many layers?",
    shows="Figure 12 (networks: Figures 27 to 31)",
    units=units,
    tables=tables,
    figures=figures,
)
