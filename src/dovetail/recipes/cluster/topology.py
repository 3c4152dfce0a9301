"""Pruned networks beside shuffled copies that keep their topology."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..recipe import Recipe, Scale
from ..tables import Cell, Comparison
from ..unit import Finished, Row, Unit
from .cells import line_cells
from .conditions import DENSE, DENSE_IN_SMALL, REGULARISATION, line
from .lines import Line, row_of
from .tables import Tables, table_units, tables_begun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHUFFLES: Mapping[str, str] = {"layer": "all weights shuffled", "layer-nonzero": "weights left shuffled"}
"""The order of the units' measures, and what they are called in the figure."""
_PUBLISHED = {"mnist": "A.5", "fashion-mnist": "A.6"}
_NOTE = (
    "Five pruned networks a condition, and 50 shuffled copies of each: *shuffled*, in which all weights of a layer "
    "change places, and *same pattern*, in which only those that pruning left do, so that the copies have the "
    "network's topology. Mean n-cut (standard deviation) of the copies, averaged over networks. *p <*: networks that "
    "are more clusterable than all of their copies. Figure A.6 has no numbers; the published ones are those of Tables "
    "A.5 and A.6 for the same condition."
)


def tables_at(scale: Scale) -> Tables:
    """Return all networks of the figure as one table."""
    paper = scale == "paper"
    base = DENSE if paper else {**DENSE_IN_SMALL, "seeds": range(2)}
    measure: Mapping[str, Any] = {} if paper else base["measures"][0]
    network = {
        **base,
        "stages": ["pruned"],
        "measures": [{**measure, "shuffle": shuffle} for shuffle in _SHUFFLES],
    }
    return {
        "Figure A.6: shuffles that keep the topology" if paper else "Shuffles that keep the topology": [
            line(
                data, network, REGULARISATION[name], labels={"data": data, "condition": name},
                printed={"table": _PUBLISHED[data], "regularisation": name} if paper else None,
            )
            for data in (_PUBLISHED if paper else ("digits",))
            for name in ("none", "dropout")
        ]
    }  # fmt: skip


def units(scale: Scale) -> list[Unit]:
    """Return the networks of all conditions."""
    return table_units(tables_at(scale))


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return n-cuts beside both kinds of copies."""
    return [
        Comparison(title, _cells(lines, finished), _NOTE)
        for title, lines in tables_begun(tables_at, finished).items()
    ]


def figures(finished: Sequence[Finished]) -> Iterator[tuple[str, Figure]]:
    """Return the n-cut of every network beside both kinds of copies: a panel for each condition."""
    from matplotlib.figure import Figure

    lines = [each for lines in tables_begun(tables_at, finished).values() for each in lines]
    if not lines:
        return
    figure = Figure(figsize=(0.6 + max(7.0, 2.9 * len(lines)), 3.4), layout="constrained")
    panels = figure.subplots(1, len(lines), squeeze=False)[0]
    for ax, drawn in zip(panels, lines, strict=True):
        row = row_of(drawn, finished)
        if row:
            _draw(ax, row["pruned"]["measures"])
        ax.set_title(", ".join(drawn.labels.values()), fontsize=10)
        ax.set_xlabel("n-cut")
    panels[0].set_ylabel("network")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    yield "topology", figure


RECIPE = Recipe(
    name="topology",
    paper="cluster",
    title="Are pruned networks clusterable because of which weights are left, or because of how large these are?",
    shows="Figure A.6",
    units=units,
    tables=tables,
    figures=figures,
)


def _cells(lines: Sequence[Line], finished: Sequence[Finished]) -> list[Cell]:
    own, pattern = (
        [
            cell
            for cell in line_cells(
                lines, finished, measure=measure, stages=["pruned"], beside_published=not measure
            )
            if cell.metric in ("n-cut", "shuffled") or cell.metric.startswith("p <")
        ]
        for measure in range(len(_SHUFFLES))
    )
    return own + [
        replace(cell, metric=f"same pattern{'' if cell.metric == 'shuffled' else f', {cell.metric}'}")
        for cell in pattern
        if cell.metric != "n-cut"
    ]


def _draw(ax: Axes, measures: Sequence[Row]) -> None:
    """Draw a row for each network: bars are the mean of its copies with two standard deviations to either side."""
    from ...plotting import LINE_COLOURS, plain_frame

    networks = range(len(measures[0]["ncut"]))
    for found, name, colour, lift in zip(
        measures, _SHUFFLES.values(), LINE_COLOURS, (-0.12, 0.12), strict=False
    ):
        ax.errorbar(
            found["dist_ncut"], [number + lift for number in networks], xerr=[2 * sd for sd in found["dist_sd"]],
            fmt="o", markersize=4, color=colour, linewidth=3, alpha=0.8, label=f"{name}: mean ± 2 sd",
        )  # fmt: skip
    ax.plot(
        measures[0]["ncut"], networks, "|", color="black", markersize=22, markeredgewidth=2, label="network"
    )
    ax.set_yticks(networks)
    ax.set_ylim(len(networks) - 0.5, -0.5)
    plain_frame(ax)
