"""How clusterable networks are before they are trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ..recipe import Recipe, Scale
from ..tables import Cell, Comparison, Quantity
from ..unit import Finished, Unit
from .cells import shuffled
from .conditions import CNN_IN_SMALL, DENSE, DENSE_IN_SMALL, SMALL_CNN, VGG
from .lines import Line, row_of
from .networks_unit import networks_unit
from .tables import Tables, table_units, tables_begun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def tables_at(scale: Scale) -> Tables:
    """Return the networks of the three figures; in small, of two of them."""
    if scale == "smoke":
        small = (("digits", DENSE_IN_SMALL), ("digits", CNN_IN_SMALL))
        return {"Untrained networks": [_line(data, network, _AT_ONCE) for data, network in small]}
    large = (("mnist", DENSE), ("mnist", SMALL_CNN), ("cifar10", VGG))
    return {
        "Figures A.1, A.2, A.3: untrained networks": [_line(data, network, 100) for data, network in large]
    }


def units(scale: Scale) -> list[Unit]:
    """Return all networks, ten at a time."""
    return table_units(tables_at(scale))


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return means and ranges of n-cuts."""
    return [
        Comparison(title, [cell for line in lines for cell in _cells(line, finished)], _NOTE)
        for title, lines in tables_begun(tables_at, finished).items()
    ]


def figures(finished: Sequence[Finished]) -> Iterator[tuple[str, Figure]]:
    """Return the distribution of n-cuts: a panel for each kind of network."""
    from matplotlib.figure import Figure

    lines = [line for lines in tables_begun(tables_at, finished).values() for line in lines]
    if not lines:
        return
    figure = Figure(figsize=(0.4 + 3.4 * len(lines), 3.2), layout="constrained")
    panels = figure.subplots(1, len(lines), squeeze=False)[0]
    for ax, line in zip(panels, lines, strict=True):
        _draw(ax, line, finished)
    panels[0].set_ylabel("networks")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False, fontsize=9)
    yield "random-init", figure


RECIPE = Recipe(
    name="random-init",
    paper="cluster",
    title="How clusterable are networks before they are trained?",
    shows="Figures A.1 to A.3",
    units=units,
    tables=tables,
    figures=figures,
)


def _line(data: str, network: Mapping[str, Any], count: int) -> Line:
    measure = {**network.get("measures", [{}])[0], "shuffles": _COPIES}
    made = [
        networks_unit(
            data, network["net"], seeds=range(first, first + _AT_ONCE), stages=["initial"], measures=[measure]
        )
        for first in range(0, count, _AT_ONCE)
    ]
    return Line(tuple(made), {"data": data, "network": network["net"]})


def _cells(line: Line, finished: Sequence[Finished]) -> list[Cell]:
    row = row_of(line, finished)
    found = row["initial"]["measures"][0] if row else None
    published = _PUBLISHED.get((line.labels["data"], line.labels["network"]), ())
    printed = dict(zip(("lowest", "highest"), map(Quantity, published), strict=False))
    ours = {
        "networks": found and Quantity(len(found["ncut"]), of=sum(len(unit.settings["seeds"]) for unit in line.units)),
        "n-cut": found and Quantity.of_sample(found["ncut"]),
        "lowest": found and Quantity(min(found["ncut"])),
        "highest": found and Quantity(max(found["ncut"])),
        "shuffled": found and shuffled(found),
        "z": found and Quantity.of_sample(found["z_score"]),
    }  # fmt: skip
    return [Cell(line.labels, metric, value or None, printed.get(metric)) for metric, value in ours.items()]


def _draw(ax: Axes, line: Line, finished: Sequence[Finished]) -> None:
    from matplotlib.ticker import MaxNLocator

    from ...plotting import GREY, LINE_COLOURS, plain_frame

    row = row_of(line, finished)
    if row:
        found = row["initial"]["measures"][0]
        bins = max(4, len(found["ncut"]) // 6)
        ax.hist(found["ncut"], bins=bins, color=LINE_COLOURS[0], alpha=0.7, label="untrained networks")
        ax.axvline(fmean(found["dist_ncut"]), color=GREY, linestyle="--", label="mean of shuffled copies")
    published = _PUBLISHED.get((line.labels["data"], line.labels["network"]))
    if published:
        ax.axvspan(*published, color=LINE_COLOURS[1], alpha=0.15, label="published range")
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(title=f"{line.labels['network']}, {line.labels['data']}", xlabel="n-cut")
    plain_frame(ax)
