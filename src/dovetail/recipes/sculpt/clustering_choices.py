"""Table 4: whether it matters how units are clustered."""

from __future__ import annotations

from collections.abc import Sequence

from ..line import FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from .boolean import VALIDATION_RECIPE
from .charts import rate_maps
from .columns import count, trials_in
from .settings import CHOICES, SCORES, Choice

_NAMES = dict(zip(SCORES, ("modularity metric", "silhouette", "CH index", "DB index"), strict=True))
_PUBLISHED = dict(zip(_NAMES.values(), map(Quantity, (0.99, 0.99, 0.49, 0.49)), strict=True))
"""The same in all ten rows of the paper's table."""


def _lines(scale: Scale) -> list[LineTable]:
    """Return a line for each linkage and distance: all networks of the four validation tasks."""
    networks = VALIDATION_RECIPE.units(scale)
    lines = [
        Line({"linkage": linkage, "distance": distance}, networks, _PUBLISHED if scale == "paper" else {})
        for linkage, distance in CHOICES[scale]["pairs"]
    ]
    note = (
        "Networks of `validation`, all tasks, widths and depths together, scored against the structure that their "
        "depth allows. Features are the later units that a unit reaches by any path (s = L in the paper)."
    )
    return [LineTable("Table 4: ways to cluster units", lines, _columns, note, digits=2)]


def _columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    trials = trials_in(rows)
    return {
        name: count(trials, "choices", str(Choice(line.labels["linkage"], line.labels["distance"], score)))
        for score, name in _NAMES.items()
    }


def _chart(filled: Sequence[FilledTable]) -> Figures:
    """Draw success rates above the published ones."""
    yield "success", rate_maps(filled[0].cells(), x="metric", y="linkage", column="distance")


RECIPES = (
    Recipe(
        "clustering-choices", "sculpt", "Does it matter how units are clustered?", "Table 4", _lines, _chart
    ),
)
