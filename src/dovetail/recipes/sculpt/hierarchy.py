"""Figure 13: two digits, and the three bits of their exclusive or."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..recipe import Recipe, Scale
from ..tables import Comparison, Quantity
from ..unit import Finished, Unit
from .charts import success_bars
from .lines import Line, count, sample, values, with_trials
from .pictures import network_pictures
from .settings import pair_trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTHS: dict[Scale, Sequence[int]] = {"paper": (784, 392, 1568), "smoke": (24,)}
_DEPTHS: dict[Scale, Sequence[int]] = {"paper": (4, 5, 2, 3), "smoke": (2,)}
"""In the order in which units are done: first those that say most."""

_PAPER = {"noise": 0.4, "epochs": 40}
_SMOKE = {
    "noise": 0.2, "epochs": 10, "lr": 0.01, "batch_size": 128, "threshold": 0.85, "edge_steps": [0.03],
}  # fmt: skip
_SEEDS: dict[Scale, Sequence[list[int]]] = {"paper": ([0, 1], [2, 3]), "smoke": ([0],)}
"""Two seeds a unit: four of the widest networks would take more than ten minutes."""

_PROPERTIES = {"inputs": "input_separable", "outputs": "output", "middle": "middle"}


def _changes(scale: Scale, depth: int) -> dict[str, Any]:
    # With source images kept apart, dense networks of two hidden layers reach 97.9 %, not the 98 % that the paper asks.
    return {**_PAPER, "threshold": 0.98 if depth > 3 else 0.975} if scale == "paper" else _SMOKE


def lines(scale: Scale) -> list[Line]:
    """Return a row for each depth: all widths and seeds."""
    return [
        Line(
            scale,
            {"hidden layers": depth},
            [
                pair_trials(scale, "digit-xor", width, depth, seeds=seeds, **_changes(scale, depth))
                for width in _WIDTHS[scale]
                for seeds in _SEEDS[scale]
            ],
        )
        for depth in sorted(_DEPTHS[scale])
    ]


def units(scale: Scale) -> list[Unit]:
    """Return all trials, the most telling first."""
    by_depth = {line.labels["hidden layers"]: line.units for line in lines(scale)}
    in_turn = zip(*(by_depth[depth] for depth in _DEPTHS[scale]), strict=True)
    return [unit for units in in_turn for unit in units]


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return three properties beside Figure 13."""
    cells = []
    for line, trials in with_trials(lines, finished):
        depth = line.labels["hidden layers"]
        learned = [outcome != "not learned" for outcome in values(trials, "outcome")]
        cells += [
            line.cell(
                name,
                count(trials, "full", name),
                line.printed(figure=13, hidden_layers=depth, property=printed),
            )
            for name, printed in _PROPERTIES.items()
        ]
        cells += [
            line.cell("learned", Quantity(sum(learned), of=len(learned)) if learned else None),
            line.cell("accuracy", sample(trials, "accuracy")),
            line.cell("edges", sample(trials, "edges")),
        ]
    note = (
        "*Inputs*: the pixels of the two digits are in two modules; *outputs*: the three bits are in three; *middle*: "
        "all hidden units belong to one of these. Networks that did not learn the task count as failures. Differences "
        "from the paper: noise of standard deviation 0.4 on training inputs, without which networks do not reach 98 % "
        "(97.5 % is asked of two and three hidden layers); source images kept apart between the splits; one cell of "
        "the grid (units 50 %, edges 2.5 %) instead of 70."
    )
    return [Comparison("Figure 13: exclusive or of two digits", cells, note, digits=3)]


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Yield success rates beside the published ones, and found networks."""
    (table,) = tables(finished)
    if table.cells:
        success = [cell for cell in table.cells if cell.metric in _PROPERTIES]
        yield "success", success_bars(success, x="hidden layers", panel="metric")
        yield from network_pictures(lines, finished, column="hidden layers", size=(5.0, 4.2))


RECIPE = Recipe(
    name="hierarchy",
    paper="sculpt",
    title="Is the hierarchy found in a task on two digits?",
    shows="Figure 13 (networks: Figure 33)",
    units=units,
    tables=tables,
    figures=figures,
)
