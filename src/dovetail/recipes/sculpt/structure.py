"""Section 2: the structure of the task in the weights of dense, edge-pruned and sculpted networks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..recipe import Recipe, Scale
from ..tables import Comparison, Quantity
from ..unit import Finished, Unit
from .lines import Line, count, units_of, values, with_rows, with_trials
from .printed import printed_success
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


def _trials(scale: Scale, kind: str, structure: str, width: int, depth: int) -> Unit:
    return boolean_trials(scale, VALIDATION[structure], width, depth, **KINDS[kind])


def separable_lines(scale: Scale) -> list[Line]:
    """Return a row for each kind of network and architecture, for the task with separable inputs."""
    return [
        Line(
            scale,
            {"networks": kind, "hidden layers": depth, "width": width},
            [_trials(scale, kind, "input separable", width, depth)],
        )
        for kind in KINDS
        for depth in _DEPTHS[scale]
        for width in WIDTHS[scale]
    ]


def reused_lines(scale: Scale) -> list[Line]:
    """Return a row for each kind of network and width, for the task with a reused function."""
    return [
        Line(
            scale,
            {"networks": kind, "width": width},
            [_trials(scale, kind, "reused", width, _REUSED_DEPTH)],
        )
        for kind in KINDS
        for width in WIDTHS[scale]
    ]


def units(scale: Scale) -> list[Unit]:
    """Return all networks of both tasks."""
    return units_of([*separable_lines(scale), *reused_lines(scale)])


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return the tests for separable inputs beside Table 1, and how many units carry 90 %."""
    tests = []
    for line, trials in with_trials(separable_lines, finished):
        larger = Quantity.of_sample([max(pair) for pair in values(trials, "separability", "p")])
        tests += [
            line.cell("both reject", count(trials, "separability", "rejected"), _printed(line)),
            line.cell("larger p", larger),
        ]
    carry = []
    for line, trials in with_trials(reused_lines, finished):
        by_layer = zip(*values(trials, "needed"), strict=True) if trials else [()] * _REUSED_DEPTH
        carry += [
            line.cell(f"layer {number}", Quantity.of_sample(needed))
            for number, needed in enumerate(by_layer, 1)
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
        Comparison("Table 1: networks that show separable inputs", tests, note_tests, digits=2),
        Comparison("Figures 2 to 4: units that carry 90 %", carry, note_carry, digits=1),
    ]


def _printed(line: Line) -> Quantity | None:
    if line.scale != "paper" or line.labels["networks"] != "dense":
        return None
    labels = {"hidden_layers": line.labels["hidden layers"], "width": line.labels["width"]}
    return Quantity(int(printed_success(1, "input separable", **labels) == "rejected"), of=1)


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Yield path products of examples, p-values by depth, and units that carry 90 % by width."""
    from .structure_figures import draw_carrying_units, draw_p_values, draw_path_products

    separable = list(with_rows(separable_lines, finished))
    reused = list(with_trials(reused_lines, finished))
    if any(rows for _, rows in separable):
        yield "path-products", draw_path_products(separable)
        yield "p-values", draw_p_values(separable)
    if any(trials for _, trials in reused):
        yield "units", draw_carrying_units(reused)


RECIPE = Recipe(
    name="structure",
    paper="sculpt",
    title="What training alone does not give: structure in the weights of dense and pruned networks",
    shows="Figures 1 to 4, Table 1, Figures 34 to 36",
    units=units,
    tables=tables,
    figures=figures,
)
