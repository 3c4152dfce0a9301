"""Width and depth, the paper's open question: how the complete merge goes with them, with slots and without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod

from ..data import DATA_SIZES
from ..line import FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Unit
from .condition import SEEDS, TRAINING, Condition, before, data_settings
from .merges import merged_by

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
        sizes = (prod(DATA_SIZES[self.data].input_shape), *self.layers, DATA_SIZES[self.data].outputs)
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
        """Specialists in slots, where the layers can be divided evenly."""
        if any(size % DATA_SIZES[self.data].outputs for size in self.layers):
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
        return Unit("maxent/generalists", settings, before(settings))


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


def _by_cost(scale: Scale) -> list[Unit]:
    """Return all the work; whole networks for each class, which take longest, last and by size."""
    found = points(scale)
    cheap = [unit for one in found for unit in (one.generalists, one.slots and one.slots.unit) if unit]
    whole = sorted((one for one in found if one.plain), key=lambda one: (one.model == "cnn", one.weights))
    return [*cheap, *(one.plain.unit for one in whole if one.plain)]


def _lines(scale: Scale) -> list[LineTable]:
    """Return a line for every network of which anything is known."""
    lines = []
    for point in points(scale):
        units = [point.generalists, *(one.unit for one in (point.plain, point.slots) if one)]
        lines.append(Line({"data": point.data, "net": point.net.partition(",")[0]}, units, condition=point))
    title = "All classes merged, over width and depth"
    return [LineTable(title, lines, _columns, NOTE, all_lines=False)]


def _columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    """Return the accuracy on all classes, merged in several ways."""
    point: Point = line.condition
    found = dict(zip(line.units, rows, strict=True))
    columns: dict[str, Quantity | None] = dict.fromkeys(COLUMNS)
    if generalists := found[point.generalists]:
        columns["generalist"] = Quantity.of_sample(generalists["accuracy"])
    names = (
        (point.plain, "sum", "averaged logits"),
        (point.slots, "sum in slots", "averaged logits (slots)"),
    )
    for condition, by_sum, by_logits in names:
        if condition and (row := found[condition.unit]):
            merged = merged_by(row)
            columns[by_sum] = Quantity.of_sample(merged["sum"])
            columns[by_logits] = Quantity.of_sample(merged["logits"])
    ours, yardstick = columns["sum in slots"], columns["generalist"]
    if ours and yardstick:
        columns["slots / generalist"] = Quantity(ours.value / yardstick.value)
    return columns


def _chart(filled: Sequence[FilledTable]) -> Figures:
    """Draw accuracy over width for MLPs, a panel for each data set, a colour for each depth."""
    from ...plotting import line_colours, plain_frame
    from .drawing import panels

    measured = [
        (line.condition, _columns(line, rows))
        for line, rows in filled[0].lines
        if line.condition.model != "cnn"
    ]
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


RECIPES = (
    Recipe(
        "width",
        "maxent",
        "The complete merge over width and depth, with slots and without",
        "the open question of its section 5",
        _lines,
        _chart,
        order=_by_cost,
    ),
)
