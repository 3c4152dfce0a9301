"""The paper's open question: how the complete merge goes with width and depth, with slots and without."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

from ..recipe import Recipe, Scale
from ..tables import Cell, Comparison, Quantity
from ..unit import Finished, Row, Unit
from .complete_merge import merged_by
from .condition import Condition
from .data_sets import DATA_SETS, data_settings
from .training import SEEDS, TRAINING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA: dict[Scale, tuple[str, ...]] = {
    "paper": ("mnist", "fashion-mnist", "har", "yeast"),
    "smoke": ("digits",),
}
WIDTHS: dict[Scale, tuple[int, ...]] = {"paper": (240, 480, 960, 1920), "smoke": (80, 160)}
"""Units of the first hidden layer; all layers split evenly among 4, 6 and 10 classes."""
DEPTHS: dict[Scale, tuple[int, ...]] = {"paper": (1, 2, 3), "smoke": (1, 2)}
CNNS: dict[Scale, tuple[tuple[int, ...], ...]] = {
    "paper": ((64, 120, 64), (60, 120, 60), (120, 240, 120), (120, 600, 300)),
    "smoke": (),
}
"""Channels, then units; the first is that of the tables."""
MOST_WEIGHTS = 2_000_000
"""Networks up to which whole ones are trained for each class; larger ones take minutes on any GPU."""
NOTE = (
    "Accuracy on all classes, mean (sd) over seeds. *sum*: pruned specialists, weights added, as in the "
    "paper; *in slots*: each has its own share of every hidden layer, none is pruned, weights added. "
    "*averaged logits* are those of the specialists of the column before. Generalists have the same "
    "network and as many epochs. –: not run, or too large for so many copies."
)
COLUMNS = (
    "generalist",
    "sum",
    "averaged logits",
    "sum in slots",
    "averaged logits (slots)",
    "slots / generalist",
)


@dataclass(frozen=True)
class Point:
    """A network on some data, and the work to find out about it.

    Examples
    --------
    >>> point = Point("paper", "har", "shallow", (960, 480))
    >>> point.net, point.generalists.settings["lr"]
    ('mlp:960-480,dropout=0', 0.0001)
    """

    scale: Scale
    data: str
    model: str
    layers: tuple[int, ...]

    @property
    def net(self) -> str:
        """The network's spec, with the dropout that the paper has for this data."""
        name, _, rest = TRAINING[self.data][self.model]["net"].partition(",")
        sizes = "-".join(str(size) for size in self.layers)
        return ",".join(text for text in (f"{name.partition(':')[0]}:{sizes}", rest) if text)

    @property
    def weights(self) -> int:
        """How many weights an MLP of this size has."""
        sizes = (prod(DATA_SETS[self.data].input_shape), *self.layers, DATA_SETS[self.data].classes)
        return sum(inputs * outputs for inputs, outputs in pairwise(sizes))

    @cached_property
    def plain(self) -> Condition | None:
        """Specialists that are whole networks, pruned: those of the tables for the paper's own CNN."""
        if self.model == "cnn":
            return Condition(self.scale, self.data, "cnn") if self.layers == CNNS[self.scale][0] else None
        if self.weights > MOST_WEIGHTS:
            return None
        return Condition(self.scale, self.data, self.model, net=self.net)

    @cached_property
    def slots(self) -> Condition | None:
        """Specialists in slots, where the layers can be shared out."""
        if any(size % DATA_SETS[self.data].classes for size in self.layers):
            return None
        return Condition(self.scale, self.data, self.model, net=self.net, slots=True)

    @cached_property
    def generalists(self) -> Unit:
        """Networks that learn all classes."""
        train = {name: TRAINING[self.data][self.model][name] for name in ("epochs", "lr", "batch_size")}
        settings = {
            "data": data_settings(self.data),
            "net": self.net,
            "seeds": list(SEEDS[self.scale]),
            **train,
            "monitor": "loss",
            "patience": None,
        }
        return Unit("maxent/generalists", settings)


def points(scale: Scale) -> list[Point]:
    """Return all networks: widths and depths of MLPs, then CNNs."""
    mlps = [
        Point(scale, data, "shallow", tuple(width >> level for level in range(depth)))
        for data in DATA[scale]
        for depth in DEPTHS[scale]
        for width in WIDTHS[scale]
    ]
    cnns = [
        Point(scale, data, "cnn", layers)
        for data in DATA[scale]
        if "cnn" in TRAINING[data]
        for layers in CNNS[scale]
    ]
    return mlps + cnns


def units(scale: Scale) -> Sequence[Unit]:
    """Return all the work; whole networks for each class, which take longest, last and by size."""
    found = points(scale)
    cheap = [unit for one in found for unit in (one.generalists, one.slots and one.slots.unit) if unit]
    whole = sorted((one for one in found if one.plain), key=lambda one: (one.model == "cnn", one.weights))
    return [*cheap, *(one.plain.unit for one in whole if one.plain)]


def tables(finished: Sequence[Finished]) -> Sequence[Comparison]:
    """Return the accuracy of all classes for every network."""
    cells = [
        Cell({"data": point.data, "net": point.net.partition(",")[0]}, name, columns.get(name))
        for point, columns in _measured(finished)
        for name in COLUMNS
    ]
    return [Comparison("All classes merged, over width and depth", cells, NOTE)] if cells else []


def _measured(finished: Sequence[Finished]) -> list[tuple[Point, dict[str, Quantity | None]]]:
    rows = {done.unit: done.row for done in finished}
    found = [(point, _columns(point, rows)) for scale in SEEDS for point in points(scale)]
    return [(point, columns) for point, columns in found if columns]


def _columns(point: Point, rows: dict[Unit, Row]) -> dict[str, Quantity | None]:
    """Return what is known of a network, by column."""
    columns: dict[str, Quantity | None] = {}
    if generalists := rows.get(point.generalists):
        columns["generalist"] = Quantity.of_sample(generalists["accuracy"])
    names = (
        (point.plain, "sum", "averaged logits"),
        (point.slots, "sum in slots", "averaged logits (slots)"),
    )
    for condition, by_sum, by_logits in names:
        if condition and (row := rows.get(condition.unit)):
            merged = merged_by(row)
            columns[by_sum] = Quantity.of_sample(merged["sum"])
            columns[by_logits] = Quantity.of_sample(merged["logits"])
    ours, yardstick = columns.get("sum in slots"), columns.get("generalist")
    if ours and yardstick:
        columns["slots / generalist"] = Quantity(ours.value / yardstick.value)
    return columns


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Draw accuracy over width for MLPs, a panel for each data set, a colour for each depth."""
    from ...plotting import line_colours, plain_frame
    from .drawing import panels

    measured = [(point, columns) for point, columns in _measured(finished) if point.model != "cnn"]
    sets = list(dict.fromkeys(point.data for point, _ in measured))
    depths = sorted({len(point.layers) for point, _ in measured})
    if not sets:
        return
    figure, axes = panels(len(sets), columns=2, size=(4.4, 3.2))
    for ax, data in zip(axes, sets, strict=True):
        for depth, colour in zip(depths, line_colours(len(depths)), strict=True):
            for name, style in (("generalist", ":"), ("sum in slots", "-"), ("sum", "--")):
                line = [
                    (point.layers[0], found.value)
                    for point, columns in measured
                    if point.data == data and len(point.layers) == depth and (found := columns.get(name))
                ]
                if line:
                    label = f"{name}, {depth} hidden"
                    ax.plot(
                        *zip(*line, strict=True), style, color=colour, marker="o", markersize=3, label=label
                    )
        widths = sorted({point.layers[0] for point, _ in measured if point.data == data})
        ax.set_xscale("log", base=2)
        ax.set_xticks(widths, [str(width) for width in widths])
        ax.minorticks_off()
        ax.set(
            title=data,
            xlabel="units of the first hidden layer",
            ylabel="accuracy, all classes",
            ylim=(0, 1.02),
        )
        plain_frame(ax)
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside right center",
        frameon=False,
        fontsize=7,
        handlelength=3.5,
    )
    yield "width", figure


RECIPE = Recipe(
    name="width",
    paper="maxent",
    title="The complete merge over width and depth, with slots and without",
    shows="the open question of its section 5",
    units=units,
    tables=tables,
    figures=figures,
)
