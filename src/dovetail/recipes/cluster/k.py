"""The same networks, cut into other numbers of clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..recipe import Recipe, Scale
from ..tables import Comparison
from ..unit import Finished, Unit
from .cells import line_cells
from .conditions import DENSE, DENSE_IN_SMALL, REGULARISATION
from .lines import Line, row_of
from .networks_unit import networks_unit
from .tables import COLUMNS, Tables, table_units, tables_begun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CLUSTERS: Mapping[str, int] = {"A.1": 4, "A.2": 7, "A.3": 10, "A.4": 2}
"""Clusters in each table; the order of the units' measures."""
_NOTE = (
    "Ten pruned networks a condition, 320 shuffled copies each. The published accuracies are the same in all four "
    "tables; none of these published values is in the authors' result files."
)


def tables_at(scale: Scale) -> Tables:
    """Return a table for each number of clusters, all of the same networks."""
    paper = scale == "paper"
    conditions = [
        (data, name)
        for data in (("mnist", "fashion-mnist") if paper else ("digits",))
        for name in ("none", "dropout")
    ]
    networks = {condition: tuple(_networks(*condition, scale)) for condition in conditions}
    return {
        f"Table {table}: {k} clusters" if paper else f"{k} clusters": [
            Line(
                networks[data, name],
                {"data": data, "condition": name},
                {"table": table, "dataset": data, "regularisation": name} if paper else {},
            )
            for data, name in conditions
        ]
        for table, k in _CLUSTERS.items()
    }


def units(scale: Scale) -> list[Unit]:
    """Return the networks of all conditions, five seeds at a time."""
    return table_units(tables_at(scale))


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return a table for each number of clusters."""
    return [
        Comparison(
            title,
            line_cells(lines, finished, measure=measure, threshold=_threshold(lines[0]), stages=["pruned"]),
            f"{_NOTE} {COLUMNS}",
        )
        for measure, title, lines in _begun(finished)
    ]


def figures(finished: Sequence[Finished]) -> Iterator[tuple[str, Figure]]:
    """Return the n-cuts beside those of shuffled copies: a panel for each number of clusters."""
    from .figures import draw_names, draw_networks, new_panels

    begun = list(_begun(finished))
    if not begun:
        return
    figure, panels = new_panels({title: len(lines) for _, title, lines in begun})
    for ax, (measure, _, lines) in zip(panels, begun, strict=True):
        for place, line in enumerate(lines):
            row = row_of(line, finished)
            if row:
                draw_networks(ax, place, row["pruned"]["measures"][measure])
        draw_names(ax, ["\n".join(line.labels.values()) for line in lines])
    yield "k", figure


RECIPE = Recipe(
    name="k",
    paper="cluster",
    title="Does it matter into how many clusters networks are cut?",
    shows="Tables A.1 to A.4",
    units=units,
    tables=tables,
    figures=figures,
)


def _networks(data: str, condition: str, scale: Scale) -> Iterator[Unit]:
    """Yield units of five networks each: most of the time goes into copies, which runs on cores and not on the GPU."""
    paper = scale == "paper"
    settings: dict[str, Any] = {**(DENSE if paper else DENSE_IN_SMALL), **REGULARISATION[condition]}
    settings["measures"] = [{"k": k, "shuffles": 320 if paper else 20} for k in _CLUSTERS.values()]
    for seeds in (range(5), range(5, 10)) if paper else (range(2),):
        yield networks_unit(**{**settings, "data": data, "seeds": seeds, "stages": ["pruned"]})


def _threshold(line: Line) -> str:
    """Return what only networks fall below that are more clusterable than all copies, as the paper writes it."""
    return f"1/{line.units[0].settings['measures'][0]['shuffles']}"


def _begun(finished: Sequence[Finished]) -> Iterator[tuple[int, str, Sequence[Line]]]:
    """Yield for each table its measure, title and lines."""
    for number, (title, lines) in enumerate(tables_begun(tables_at, finished).items()):
        yield number % len(_CLUSTERS), title, lines
