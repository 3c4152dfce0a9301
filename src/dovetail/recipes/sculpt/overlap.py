"""Figure 10: two functions that share more and more inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..recipe import Recipe, Scale
from ..tables import Comparison
from ..unit import Finished, Unit
from .charts import rate_maps
from .lines import Line, count, units_of, with_trials
from .pictures import network_pictures
from .settings import DEPTHS, USES, WIDTHS, boolean_trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FAMILIES = {0: (8, 2), 1: (7, 3, 2), 2: (6, 3, 2), 3: (5, 3, 2), 4: (4, 1, 2, 2)}
"""By how many inputs the functions share; the number of outputs follows."""

_OVERLAPS: dict[Scale, Sequence[int]] = {"paper": (0, 1, 2, 3, 4), "smoke": (0, 4)}
_USES = USES | {"smoke": (2,)}
_DEPTHS = DEPTHS | {"smoke": (1,)}

_PROPERTIES = {"inputs": "input_modules", "outputs": "output_modules", "hidden": "hidden_units_separated"}


def lines(scale: Scale) -> list[Line]:
    """Return a row for each overlap and use: all depths, widths and seeds."""
    return [
        Line(
            scale,
            {"inputs shared": overlap, "use": use},
            [
                boolean_trials(scale, [*_FAMILIES[overlap], 2 * use], width, depth)
                for depth in _DEPTHS[scale]
                for width in WIDTHS[scale]
            ],
        )
        for overlap in _OVERLAPS[scale]
        for use in _USES[scale]
    ]


def units(scale: Scale) -> list[Unit]:
    """Return all trials."""
    return units_of(lines(scale))


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return three properties beside Figure 10."""
    cells = []
    for line, trials in with_trials(lines, finished):
        for name, printed in _PROPERTIES.items():
            labels = {"overlap": line.labels["inputs shared"], "use": line.labels["use"], "property": printed}
            cells.append(line.cell(name, count(trials, "full", name), line.printed(figure=10, **labels)))
    note = (
        "*Inputs* are split into own and shared ones as planted, *outputs* by their function, and all *hidden* units "
        "belong to one of the two output modules. Recounts of the authors' networks differ from the printed figure by "
        "one in four cells."
    )
    return [Comparison("Figure 10: two functions that share inputs", cells, note, digits=2)]


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Yield success rates above the published ones, and found hierarchies."""
    (table,) = tables(finished)
    if table.cells:
        yield "success", rate_maps(table.cells, x="use", y="inputs shared", column="metric")
        yield from network_pictures(lines, finished, row="inputs shared", column="use")


RECIPE = Recipe(
    name="overlap",
    paper="sculpt",
    title="Are two functions told apart that share inputs?",
    shows="Figure 10 (networks: Figures 18 to 26)",
    units=units,
    tables=tables,
    figures=figures,
)
