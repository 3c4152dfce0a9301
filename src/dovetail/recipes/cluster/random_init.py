"""Networks before they are trained, and how clusterable they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ..line import FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from .comparing import joined, shuffled
from .conditions import DENSE, SMALL_CNN, SMOKE_CNN, SMOKE_DENSE, VGG, networks_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AT_ONCE = 10
"""Networks in a unit; a hundred of the largest would take too much memory."""
_COPIES = 10
_PUBLISHED: Mapping[tuple[str, str], tuple[float, float]] = {
    ("mnist", "mlp:256-256-256-256"): (10.2, 10.4),
    ("mnist", "small-cnn"): (10.90, 10.95),
    ("cifar10", "vgg16"): (8.45, 8.63),
}
"""Lowest and highest n-cuts in the paper's text, by data and network; its figures have no numbers."""
_NOTE = (
    "Untrained networks, Glorot uniform; a hundred of each kind at paper scale, in 12 clusters. *Shuffled*: mean "
    f"(standard deviation) of the n-cuts of {_COPIES} shuffled copies, averaged over networks. *z*: standard "
    "deviations that networks are above their copies. The published lowest and highest n-cuts are those that the "
    "paper's text names. Kernels of convolutions count with their induced norm, as in the paper's other numbers."
)


def _lines(scale: Scale) -> list[LineTable]:
    """Return the networks of the three figures; at smoke scale of two of them."""
    if scale == "smoke":
        lines = [_line("digits", network, _AT_ONCE) for network in (SMOKE_DENSE, SMOKE_CNN)]
        return [LineTable("Untrained networks", lines, _columns, _NOTE)]
    kinds = (("mnist", DENSE), ("mnist", SMALL_CNN), ("cifar10", VGG))
    lines = [_line(data, network, 100) for data, network in kinds]
    return [LineTable("Figures A.1, A.2, A.3: untrained networks", lines, _columns, _NOTE)]


def _line(data: str, network: Mapping[str, Any], count: int) -> Line:
    measure = {**network.get("measures", [{}])[0], "shuffles": _COPIES}
    units = [
        networks_unit(
            data, network["net"], seeds=range(first, first + _AT_ONCE), stages=["initial"], measures=[measure]
        )
        for first in range(0, count, _AT_ONCE)
    ]
    ends = map(Quantity, _PUBLISHED.get((data, network["net"]), ()))
    published = dict(zip(("lowest", "highest"), ends, strict=False))
    return Line({"data": data, "network": network["net"]}, units, published)


def _columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    found = _found(rows)
    of = sum(len(unit.settings["seeds"]) for unit in line.units)
    return {
        "networks": found and Quantity(len(found["ncut"]), of=of),
        "n-cut": found and Quantity.of_sample(found["ncut"]),
        "lowest": found and Quantity(min(found["ncut"])),
        "highest": found and Quantity(max(found["ncut"])),
        "shuffled": found and shuffled(found),
        "z": found and Quantity.of_sample(found["z_score"]),
    }


def _found(rows: Rows) -> Any:
    row = joined(rows)
    return row and row["initial"]["measures"][0]


def _chart(filled: Sequence[FilledTable]) -> Figures:
    """Draw the distribution of n-cuts: a panel for each kind of network."""
    from matplotlib.figure import Figure

    lines = filled[0].lines
    figure = Figure(figsize=(0.4 + 3.4 * len(lines), 3.2), layout="constrained")
    panels = figure.subplots(1, len(lines), squeeze=False)[0]
    for ax, (line, rows) in zip(panels, lines, strict=True):
        _draw(ax, line, rows)
    panels[0].set_ylabel("networks")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False, fontsize=9)
    yield "random-init", figure


def _draw(ax: Axes, line: Line, rows: Rows) -> None:
    from matplotlib.ticker import MaxNLocator

    from ...plotting import GREY, LINE_COLOURS, plain_frame

    if found := _found(rows):
        bins = max(4, len(found["ncut"]) // 6)
        ax.hist(found["ncut"], bins=bins, color=LINE_COLOURS[0], alpha=0.7, label="untrained networks")
        ax.axvline(fmean(found["dist_ncut"]), color=GREY, linestyle="--", label="mean of shuffled copies")
    if line.published:
        ax.axvspan(
            *(end.value for end in line.published.values() if end),
            color=LINE_COLOURS[1],
            alpha=0.15,
            label="published range",
        )
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(title=f"{line.labels['network']}, {line.labels['data']}", xlabel="n-cut")
    plain_frame(ax)


RECIPES = (
    Recipe(
        "random-init",
        "cluster",
        "How clusterable are networks before they are trained?",
        "Figures A.1 to A.3",
        _lines,
        _chart,
    ),
)
