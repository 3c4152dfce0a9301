"""Pruned networks beside shuffled copies that keep their topology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..line import FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Row
from .comparing import columns
from .conditions import DENSE, REGULARISATION, SMOKE_DENSE, networks_unit, stage_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def _lines(scale: Scale) -> list[LineTable]:
    """Return all networks of the figure as one table."""
    paper = scale == "paper"
    base = DENSE if paper else {**SMOKE_DENSE, "seeds": range(2)}
    measure: Mapping[str, Any] = {} if paper else base["measures"][0]
    network = {
        **base,
        "stages": ["pruned"],
        "measures": [{**measure, "shuffle": shuffle} for shuffle in _SHUFFLES],
    }
    lines = [
        stage_line(
            [networks_unit(data, **network, **REGULARISATION[name])],
            {"data": data, "condition": name},
            {"table": _PUBLISHED[data], "regularisation": name} if paper else None,
        )
        for data in (_PUBLISHED if paper else ("digits",))
        for name in ("none", "dropout")
    ]
    title = "Shuffles that keep the topology"
    return [
        LineTable(f"Figure A.6: {title[0].lower()}{title[1:]}" if paper else title, lines, _columns, _NOTE)
    ]


def _columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    """Return the n-cut beside both kinds of copies."""
    own, pattern = (columns(measure)(line, rows) for measure in range(len(_SHUFFLES)))
    count = next(name for name in own if name.startswith("p <"))
    return {
        **{name: own[name] for name in ("n-cut", "shuffled", count)},
        "same pattern": pattern["shuffled"],
        f"same pattern, {count}": pattern[count],
    }


def _chart(filled: Sequence[FilledTable]) -> Figures:
    """Draw the n-cut of every network beside both kinds of copies: a panel for each condition."""
    from matplotlib.figure import Figure

    lines = filled[0].lines
    figure = Figure(figsize=(0.6 + max(7.0, 2.9 * len(lines)), 3.4), layout="constrained")
    panels = figure.subplots(1, len(lines), squeeze=False)[0]
    for ax, (line, rows) in zip(panels, lines, strict=True):
        if rows[0]:
            _draw(ax, rows[0]["pruned"]["measures"])
        ax.set_title(f"{line.labels['data']}, {line.labels['condition']}", fontsize=10)
        ax.set_xlabel("n-cut")
    panels[0].set_ylabel("network")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    yield "topology", figure


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


RECIPES = (
    Recipe(
        "topology",
        "cluster",
        "Are pruned networks clusterable because of which weights are left, or because of how large these are?",
        "Figure A.6",
        _lines,
        _chart,
    ),
)
