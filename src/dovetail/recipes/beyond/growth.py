"""Classes that come a few at a time: what is as good as training anew on all samples, without an old one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ..line import FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Row, Unit

JOINT = "joint head"
METHODS = {
    "specialists": "parts",
    "specialists, not introduced": "parts",
    "sums": "parts",
    "both": "parts",
    JOINT: "heads",
    "head and 20 stored samples a class": "heads",
    "fine-tuned head": "heads",
    "nearest mean": "closed forms",
    "linear ridge": "closed forms",
    "random-feature ridge": "closed forms",
}
"""What is compared step by step, and which kind of unit measures it."""
AT_ONCE = ("specialists, together", "specialists, each alone")
"""What is trained without steps."""


@dataclass(frozen=True)
class Growing:
    """Classes of a data set that come in steps, and what learns them.

    Attributes
    ----------
    title : str
        What lines call it.
    trunk, data : str, mapping
        A known trunk, and name and options of the data.
    inputs, outputs : int
        Features of a sample, and classes of the data.
    first, step : int
        How many classes there are to begin with, and how many come at a time.
    measured : sequence of int
        After which steps, the first of which is 1.
    units : int
        Hidden units of a class.
    training, head : mapping
        How specialists and heads are trained.
    runs : mapping of str to int
        How many runs there are of each kind; each has an order of its own, and the seed of the same number.
    features : int
        Random features of sums and of the ridge regression.
    """

    title: str
    trunk: str
    data: Mapping[str, Any]
    inputs: int
    outputs: int
    first: int
    step: int
    measured: Sequence[int]
    units: int
    training: Mapping[str, Any]
    head: Mapping[str, Any]
    runs: Mapping[str, int]
    features: int = 2000

    def of_kind(self, kind: str) -> list[Unit]:
        """Return the runs of a kind."""
        settings = {
            "trunk": self.trunk,
            "data": dict(self.data),
            "inputs": self.inputs,
            "outputs": self.outputs,
            "first": self.first,
            "step": self.step,
            "measured": list(self.measured),
            "units": self.units,
            "training": dict(self.training),
            "head": dict(self.head),
            "stored": 20,
            "features": self.features,
            "kind": kind,
        }
        return [
            Unit("beyond/growing", settings | {"order": run, "seed": run})
            for run in range(self.runs.get(kind, 0))
        ]

    @property
    def ends(self) -> list[int]:
        """How many classes there are whenever something is measured."""
        return [min(self.first + (place - 1) * self.step, self.outputs) for place in self.measured]


_CIFAR10 = Growing(
    "CIFAR-10 on EfficientNet-lite0, 5 × 2",
    "efficientnet-lite0",
    {"name": "cifar10", "options": {"scale": "unit"}},
    1280,
    10,
    2,
    2,
    (1, 2, 3, 4, 5),
    16,
    {"epochs": 4, "lr": 1e-3, "batch_size": 256},
    {"hidden": 160, "epochs": 4, "lr": 3e-4, "batch_size": 256},
    {"parts": 10, "heads": 10, "closed forms": 5, "together": 3},
)
_CLINC: dict[str, Any] = {
    "trunk": "all-minilm-l6-v2",
    "data": {"name": "clinc150", "options": {}},
    "inputs": 384,
    "outputs": 150,
    "first": 10,
    "units": 10,
    "training": {"epochs": 10, "lr": 3e-3, "batch_size": 128},
    "head": {"hidden": 256, "epochs": 10, "lr": 1e-3, "batch_size": 64},
}
_DIGITS = Growing(
    "digits on a small LeNet, 4 + 3 + 3",
    "small-lenet",
    {"name": "digits", "options": {}},
    16,
    10,
    4,
    3,
    (1, 2, 3),
    8,
    {"epochs": 8, "lr": 1e-2, "batch_size": 64},
    {"hidden": 40, "epochs": 8, "lr": 5e-3, "batch_size": 64},
    {"parts": 1, "heads": 1, "closed forms": 1, "together": 1},
    100,
)
_GROWING: dict[Scale, tuple[Growing, ...]] = {
    "paper": (
        _CIFAR10,
        Growing(
            "CLINC150 on MiniLM-L6, 15 × 10",
            step=10,
            measured=(1, 5, 10, 15),
            runs={"parts": 10, "heads": 10, "closed forms": 5, "together": 1},
            **_CLINC,
        ),
        Growing(
            "CLINC150 on MiniLM-L6, one by one",
            step=1,
            measured=(1, 41, 91, 141),
            runs={"parts": 1, "heads": 1},
            **_CLINC,
        ),
    ),
    "smoke": (_DIGITS,),
}

_RULES = (
    "Classes come in random order; of those that were there no sample is kept but by *joint* and *stored*. Each run "
    "has another order and another seed. Features are brought to mean 0 and variance 1 of the training samples of "
    "the first step. *Specialists* have slots, stand beside those that were there (draws of cards in the place of "
    "old samples), and old ones are introduced to the new. *Sums* have 2,000 random features, and are as they are, "
    "untuned. *Both*: `dt.combine`, weighed on validation samples of the classes so far. *Joint head*: one hidden "
    "layer, trained anew on all samples so far; the *fine-tuned* head learns on with the new ones alone, and "
    "another with 20 old ones of each class beside them. Ridges are chosen on validation samples. How specialists "
    "and heads are trained was set beforehand."
)
_END_NOTE = (
    "Test accuracy when all classes are there, mean (sd) over runs. *Runs*: how many there are of those that are "
    "declared. *Spread*: the best run less the worst, over orders and seeds at once, as each run has another of "
    "both. *Below joint*: the mean of joint heads less this. " + _RULES
)
_STEPS_NOTE = "Test accuracy on the classes so far, in the mean over the same runs."
_AT_ONCE_NOTE = (
    "Specialists for all classes, without steps: trained *together* on all samples, and *each alone*, on the "
    "samples of its own class and draws of the cards of all others. Test accuracy, mean (sd) over runs. *Below "
    "together* is what is lost by never seeing a sample of another class. Features are scaled as above, by the "
    "classes that come first in the order of the run."
)
_COSTS_NOTE = (
    "What the last step takes: seconds of the processor until its classes are added (training and introducing) and "
    "until a class is left out of all and two samples are answered, the fastest of three; and the size of a class's "
    "file, its card included. Mean (sd) over runs."
)


def _lines(scale: Scale) -> list[LineTable]:
    """Return what there is at the end, after steps, and without any; and what a step takes."""
    growing = _GROWING[scale]
    return [
        LineTable("At the end", list(_end_lines(growing)), _end_columns, _END_NOTE, digits=4, all_lines=False),
        LineTable("Step by step", list(_step_lines(growing)), _step_columns, _STEPS_NOTE, 3, all_lines=False),
        LineTable(
            "Without steps",
            [Line({"classes": one.title}, one.of_kind("together")) for one in growing if "together" in one.runs],
            _at_once_columns,
            _AT_ONCE_NOTE,
            digits=4,
            all_lines=False,
        ),
        LineTable(
            "What a class takes",
            [Line({"classes": one.title}, one.of_kind("parts")) for one in growing],
            _cost_columns,
            _COSTS_NOTE,
            digits=2,
            all_lines=False,
        ),
    ]  # fmt: skip


def _end_lines(growing: Sequence[Growing]) -> Iterator[Line]:
    """Yield a line for each method, which also has the joint heads that it is compared with."""
    for one in growing:
        joint = one.of_kind("heads")
        for method, kind in METHODS.items():
            if own := one.of_kind(kind):
                yield Line(
                    {"classes": one.title, "method": method}, [*own, *joint], condition=(method, len(own))
                )


def _step_lines(growing: Sequence[Growing]) -> Iterator[Line]:
    for one in growing:
        units = [unit for kind in dict.fromkeys(METHODS.values()) for unit in one.of_kind(kind)]
        for end in one.ends:
            yield Line({"of": one.title, "classes": end}, units, condition=end)


def _scores(rows: Rows, method: str, end: int | None = None) -> list[float]:
    """Return what a method scores in each run that has it, with so many classes or at the end."""
    found: list[float] = []
    for row in rows:
        if row and method in row["methods"]:
            place = -1 if end is None else row["classes"].index(end)
            found.append(row["methods"][method]["accuracy"][place])
    return found


def _end_columns(line: Line, rows: Rows) -> dict[str, Quantity]:
    method, own = line.condition
    scores, joint = _scores(rows[:own], method), _scores(rows[own:], JOINT)
    columns = {"accuracy": Quantity.of_sample(scores)}
    if scores:
        columns["runs"] = Quantity(len(scores), of=own)
    if len(scores) > 1:
        columns["spread"] = Quantity(max(scores) - min(scores))
    if scores and joint and method != JOINT:
        columns["below joint"] = Quantity(fmean(joint) - fmean(scores))
    return {name: value for name, value in columns.items() if value is not None}


def _step_columns(line: Line, rows: Rows) -> dict[str, Quantity]:
    found = {method: _scores(rows, method, line.condition) for method in METHODS}
    return {method: Quantity(fmean(scores)) for method, scores in found.items() if scores}


def _at_once_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    together, alone = (_scores(rows, method) for method in AT_ONCE)
    columns = {
        name: Quantity.of_sample(scores) for name, scores in zip(AT_ONCE, (together, alone), strict=True)
    }
    return {**columns, "below together": Quantity(fmean(together) - fmean(alone))} if together else columns


def _cost_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    found: list[Row] = [row for row in rows if row]
    return {
        "seconds to add": Quantity.of_sample([row["seconds"]["add"] for row in found]),
        "ms to leave one out": Quantity.of_sample([1000 * row["seconds"]["drop"] for row in found]),
        "kB of a file": Quantity.of_sample([row["file"] / 1000 for row in found]),
    }


def _charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw the accuracy of all methods over the number of classes."""
    from matplotlib.figure import Figure

    from ...plotting import line_colours, plain_frame

    curves: dict[str, dict[str, tuple[list[int], list[float]]]] = {}
    for line, rows in filled[0].lines:
        method, own = line.condition
        found = [row for row in rows[:own] if row and method in row["methods"]]
        if found:
            ends = found[0]["classes"]
            means = [fmean(_scores(found, method, end)) for end in ends]
            curves.setdefault(line.labels["classes"], {})[method] = (ends, means)
    if not curves:
        return
    figure = Figure(figsize=(4.2 * len(curves), 4.2), layout="constrained")
    colours = dict(zip(METHODS, line_colours(len(METHODS)), strict=True))
    drawn: dict[str, Any] = {}
    for ax, (title, methods) in zip(
        figure.subplots(1, len(curves), squeeze=False)[0], curves.items(), strict=True
    ):
        plain_frame(ax)
        for method, (ends, means) in methods.items():
            style = "--" if METHODS[method] != "parts" else "-"
            (drawn[method],) = ax.plot(ends, means, style, color=colours[method], marker=".", linewidth=1.2)
        ax.set(title=title, xlabel="classes", ylabel="test accuracy", ylim=(0.5, 1))
        ax.title.set_fontsize(9)
    figure.legend(
        drawn.values(), drawn.keys(), loc="outside lower center", ncols=3, frameon=False, fontsize=8
    )
    yield "growth", figure


def _order(scale: Scale) -> list[Unit]:
    """Return units so that all methods have some runs early."""
    growing = _GROWING[scale]
    kinds = [*dict.fromkeys(METHODS.values()), "together"]
    every = [
        (place, unit) for one in growing for kind in kinds for place, unit in enumerate(one.of_kind(kind))
    ]
    return [unit for _, unit in sorted(every, key=lambda found: found[0])]


RECIPES = (
    Recipe(
        "growth",
        "beyond",
        "Classes that come a few at a time",
        "no paper's question",
        _lines,
        _charts,
        order=_order,
    ),
)
