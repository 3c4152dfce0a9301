"""Parts on networks that others trained: how much of an ordinary head's accuracy a sum of specialists has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from ..line import FilledTable, Line, LineTable, Rows
from ..maxent.condition import SEEDS
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Row, Unit

HEADS = {"generalist": "generalist", "logistic": "logistic regression", "slots": "specialists, summed"}
"""What is compared, and how columns call it."""


@dataclass(frozen=True)
class Features:
    """What a trunk makes of a data set, and how heads are trained on it.

    Attributes
    ----------
    title : str
        What lines call it.
    trunk, data : str, mapping
        A known trunk, and name and options of the data.
    size, outputs : int
        Features of a sample, and classes of the data.
    hidden : sequence of int
        Hidden units of each class; a generalist has as many in all.
    training : mapping
        How each head is trained, chosen on validation samples.
    unknown : sequence of int
        Classes to leave out of training, for how well heads tell that they do not know a sample.
    always_unknown : bool
        Whether those have no training samples anyway, so that all heads are measured on them.
    dropout : float
        Of hidden units, in training.
    """

    title: str
    trunk: str
    data: Mapping[str, Any]
    size: int
    outputs: int
    hidden: Sequence[int]
    training: Mapping[str, Mapping[str, Any]]
    unknown: Sequence[int]
    always_unknown: bool = False
    dropout: float = 0.0
    seeds: Sequence[int] = field(default=SEEDS["paper"])

    def unit(self, head: str, hidden: int, unknown: Sequence[int]) -> Unit:
        """Return heads of one kind, one for each seed; logistic regression has no hidden units, and no seed."""
        own = {"hidden": 0, "dropout": 0.0, "seeds": [0]} if head == "logistic" else {}
        settings = {
            "trunk": self.trunk,
            "data": dict(self.data),
            "features": self.size,
            "outputs": self.outputs,
            "head": head,
            "hidden": hidden,
            "dropout": self.dropout,
            "training": dict(self.training[head]),
            "seeds": list(self.seeds),
            "unknown": list(unknown),
        }
        return Unit("beyond/heads", settings | own)

    def line(self, hidden: int, *, unknown: bool) -> Line:
        """Return the heads of one width."""
        left_out = self.unknown if unknown or self.always_unknown else ()
        return Line(
            {"features": self.title, "hidden units of a class": hidden},
            [self.unit(head, hidden, left_out) for head in HEADS],
        )


_CIFAR10 = {"name": "cifar10", "options": {"scale": "unit"}}
_ON_PICTURES: Mapping[str, Mapping[str, Any]] = {
    "slots": {"epochs": 4, "lr": 1e-3, "batch_size": 256, "temperature": 1.0},
    "generalist": {"epochs": 4, "lr": 3e-4, "batch_size": 256},
    "logistic": {"C": 0.001, "max_iter": 200},
}
_FEATURES: dict[Scale, tuple[Features, ...]] = {
    "paper": (
        Features(
            "CIFAR-10 on ResNet-20", "resnet20-cifar10", _CIFAR10, 64, 10, (16, 64), _ON_PICTURES, (8, 9)
        ),
        Features(
            "CLINC150 on MiniLM-L6",
            "all-minilm-l6-v2",
            {"name": "clinc150", "options": {"oos": "unknown"}},
            384,
            151,
            (32,),
            {
                "slots": {"epochs": 8, "lr": 5e-3, "batch_size": 128, "temperature": 1.0},
                "generalist": {"epochs": 10, "lr": 3e-4, "batch_size": 128},
                "logistic": {"C": 0.1, "max_iter": 200},
            },
            (150,),
            always_unknown=True,
        ),
        Features(
            "CIFAR-10 on EfficientNet-lite0", "efficientnet-lite0", _CIFAR10, 1280, 10, (16, 64, 256), _ON_PICTURES,
            (8, 9),
        ),
    ),
    "smoke": (
        Features(
            "digits on a small LeNet",
            "small-lenet",
            {"name": "digits", "options": {}},
            16,
            10,
            (8,),
            {
                "slots": {"epochs": 40, "lr": 1e-2, "batch_size": 64, "temperature": 1.0},
                "generalist": {"epochs": 20, "lr": 1e-2, "batch_size": 64},
                "logistic": {"C": 1.0, "max_iter": 200},
            },
            (8, 9),
            seeds=SEEDS["smoke"],
        ),
    ),
}  # fmt: skip
"""Cheapest first. The trunk of the first has seen all classes of CIFAR-10 and all of its training images."""

_NOTE = (
    "Test accuracy, mean (sd) over five seeds. *Specialists, summed*: one for each class, in slots with that many "
    "hidden units, trained with the max-entropy loss and added up. *Generalist*: one head with as many hidden units in "
    "all, trained in the ordinary way. *Logistic regression* is scikit-learn's, of all classes together. *Share*: of "
    "the generalist's accuracy. Epochs, step sizes and C were chosen on validation samples, those for CIFAR-10 on "
    "features of EfficientNet-lite0 alone: ResNet-20 was trained on all of its training images, those of validation "
    "too. Sentences out of scope count only where unknown classes do."
)
_UNKNOWN_NOTE = (
    "Heads that never saw samples of some classes: ship and truck of CIFAR-10, sentences out of scope of CLINC150. How "
    "well the entropy of predictions tells test samples of these from others: AUROC, mean (sd) over seeds. *With "
    "cards*: the sum by the confidence that thresholds have by default, which also asks how near a sample is to known "
    "classes. Trunks may know the others: both of CIFAR-10 were trained on ships and trucks."
)
_SECONDS_NOTE = (
    "To train one head, or all specialists of a sum together, once features are there; mean (sd) over seeds: seconds "
    "of processor time on one core of a CPU, or on a GPU those of the clock."
)


def _lines(scale: Scale) -> list[LineTable]:
    """Return all heads by features and width: what they score, what they say to unknown classes, what they take."""
    lines = [one.line(hidden, unknown=False) for one in _FEATURES[scale] for hidden in one.hidden]
    unknown = [one.line(one.hidden[len(one.hidden) // 2], unknown=True) for one in _FEATURES[scale]]
    return [
        LineTable("Accuracy", lines, _accuracy_columns, _NOTE, digits=4),
        LineTable("Unknown classes", unknown, _unknown_columns, _UNKNOWN_NOTE, digits=4),
        LineTable("Seconds of training", lines, _seconds_columns, _SECONDS_NOTE, digits=1),
    ]


def _of(rows: Rows, metric: str) -> dict[str, Quantity | None]:
    """Return mean and deviation of a metric over seeds, a column for each kind of head."""
    found: list[Row] = [row or {metric: []} for row in rows]
    return {name: Quantity.of_sample(row[metric]) for name, row in zip(HEADS.values(), found, strict=True)}


def _accuracy_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    by_head = dict(zip(HEADS, rows, strict=True))
    generalist, slots = by_head["generalist"], by_head["slots"]
    share = None
    if generalist and slots:
        share = Quantity(fmean(slots["accuracy"]) / fmean(generalist["accuracy"]))
    return {**_of(rows, "accuracy"), "share": share}


def _unknown_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    slots = dict(zip(HEADS, rows, strict=True))["slots"]
    return {**_of(rows, "auroc"), "with cards": Quantity.of_sample(slots["by_cards"]) if slots else None}


def _seconds_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    return _of(rows, "seconds")


def _charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw what share of the generalist's accuracy the other heads have."""
    from matplotlib.figure import Figure

    from ...plotting import line_colours, plain_frame

    table = filled[0]
    drawn = [
        (line, fmean(by_head["generalist"]["accuracy"]), by_head)
        for line, rows in table.lines
        if (by_head := dict(zip(HEADS, [row or {} for row in rows], strict=True)))["generalist"]
    ]
    if not drawn:
        return
    figure = Figure(figsize=(6.2, 0.9 + 0.5 * len(drawn)), layout="constrained")
    ax = plain_frame(figure.subplots())
    for number, (head, colour) in enumerate(zip(("logistic", "slots"), line_colours(2), strict=True)):
        shares = [
            (place, fmean(found["accuracy"]) / base)
            for place, (_, base, by_head) in enumerate(drawn)
            if (found := by_head[head])
        ]
        ax.scatter(
            [share for _, share in shares],
            [place + 0.1 * number for place, _ in shares],
            color=colour,
            label=HEADS[head],
        )
    ax.axvline(1.0, color="grey", linewidth=0.8)
    ax.axvline(0.995, color="grey", linewidth=0.8, linestyle=":")
    ax.set_yticks(range(len(drawn)), [" · ".join(map(str, line.labels.values())) for line, *_ in drawn])
    ax.invert_yaxis()
    ax.set(xlabel="share of the generalist's test accuracy (dotted: 99.5 %)")
    figure.legend(loc="outside upper right", ncols=2, frameon=False, fontsize=8)
    yield "share-of-the-generalist", figure


RECIPES = (
    Recipe(
        "trunks",
        "beyond",
        "Specialists on networks that others trained",
        "no paper's question",
        _lines,
        _charts,
    ),
)
