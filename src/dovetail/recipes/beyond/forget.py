"""Forgetting a class: parts that are left out, beside retraining and fine-tuning, and the attacks that still tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..line import FilledTable, Line, LineTable, Rows
from ..maxent.condition import SEEDS
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Row, Unit

_WAYS = {
    "network": ("with it", "fine-tuned", "retrained"),
    "slots": ("with it", "left out", "retrained"),
    "sums": ("with it", "left out", "retrained"),
}
"""What is compared, by kind of part; as the work calls it."""


@dataclass(frozen=True)
class Setup:
    """What forgets, and how it is trained.

    Attributes
    ----------
    on, part : str
        What lines call what it stands on, and itself.
    kind : str
        An ordinary network, specialists in slots, or sums.
    data : mapping
        Name and options.
    training : mapping
        How it is trained; of sums, how they are made.
    net : str
        Spec of the network; none for sums.
    trunk : str
        What it stands on; empty for pictures as they are.
    features : int
        How many the trunk gives.
    finetuning : mapping
        What differs where a network is trained on without the class.
    augment : bool
        Whether training images are turned, shifted and mirrored.
    relearning : mapping
        From how many samples the class is learnt again, and when that is measured.
    seeds : sequence of int
        Each forgets a class of its own.
    """

    on: str
    part: str
    kind: str
    data: Mapping[str, Any]
    training: Mapping[str, Any]
    net: str = ""
    trunk: str = ""
    features: int = 0
    finetuning: Mapping[str, Any] = field(default_factory=dict)
    augment: bool = False
    relearning: Mapping[str, Any] = field(default_factory=lambda: _RELEARNING)
    seeds: Sequence[int] = SEEDS["paper"]

    def units(self) -> list[Unit]:
        """Return a unit for each seed."""
        shared = {
            "kind": self.kind,
            "data": dict(self.data),
            "trunk": self.trunk,
            "features": self.features,
            "net": self.net,
            "training": dict(self.training),
            "finetuning": dict(self.finetuning),
            "augment": self.augment,
            "relearning": dict(self.relearning),
        }
        return [Unit("beyond/forgetting", shared | {"seed": seed, "forget": 2 * seed}) for seed in self.seeds]


_RELEARNING: Mapping[str, Any] = {
    "samples": [1, 5, 20, 100],
    "steps": [0, 2, 5, 10, 15, 20, 30, 40, 50, 70, 100],
}
_CIFAR10 = {"name": "cifar10", "options": {}}
_PICTURES = {"name": "cifar10", "options": {"scale": "unit"}}
_FROM_SCRATCH = {
    "batch_size": 128,
    "epochs": 45,
    "patience": None,
    "schedule": "one-cycle",
    "autocast": "bfloat16",
}
_SGD = {"optimizer": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 5e-4}
_ADAMW = {"optimizer": "adamw", "lr": 2e-3, "weight_decay": 0.01, "temperature": 1.0, "sparsity": 0.0}
_HEAD = {"epochs": 4, "lr": 3e-4, "batch_size": 256, "optimizer": "adam"}
_SLOTS = {"epochs": 4, "lr": 1e-3, "batch_size": 256, "temperature": 1.0}


def _on_trunk(title: str, trunk: str, features: int, random_features: int) -> tuple[Setup, ...]:
    """Return a head, specialists and sums on a trunk of CIFAR-10; trained as in the recipe ``trunks``."""
    shared: dict[str, Any] = {"data": _PICTURES, "trunk": trunk, "features": features}
    return (
        Setup(title, "head", "network", training=_HEAD, net="mlp:640", finetuning={"epochs": 1}, **shared),
        Setup(title, "slots", "slots", training=_SLOTS, net="mlp:640", **shared),
        Setup(title, "sums", "sums", training={"features": random_features}, **shared),
    )


_SETUPS: dict[Scale, tuple[Setup, ...]] = {
    "paper": (
        *_on_trunk("ResNet-20 of CIFAR-10", "resnet20-cifar10", 64, 1000),
        *_on_trunk("EfficientNet-lite0 of ImageNet", "efficientnet-lite0", 1280, 1000),
        Setup(
            "pictures", "ResNet-18", "network", _CIFAR10, {**_FROM_SCRATCH, **_SGD}, "resnet18", augment=True,
            finetuning={"epochs": 10, "lr": 0.01, "schedule": None},
        ),
        Setup(
            "pictures", "ResNet-18 in slots", "slots", _CIFAR10, {**_FROM_SCRATCH, **_ADAMW}, "resnet18:240",
            augment=True,
        ),
    ),
    "smoke": tuple(
        Setup(
            on, part, kind, {"name": "digits", "options": {}}, training, net, trunk, features, finetuning,
            relearning={"samples": [1, 20], "steps": [0, 10, 50]}, seeds=(1,),
        )
        for on, part, kind, training, net, trunk, features, finetuning in (
            ("digits", "network", "network", {"epochs": 20, "lr": 3e-3, "batch_size": 64, "optimizer": "adam"},
             "mlp:40", "", 0, {"epochs": 2}),
            ("digits", "slots", "slots", {"epochs": 30, "lr": 1e-2, "batch_size": 64, "temperature": 1.0},
             "mlp:80", "", 0, {}),
            ("a small LeNet of digits", "sums", "sums", {"features": 100}, "", "small-lenet", 16, {}),
        )
    ),
}  # fmt: skip
"""Cheapest first. What is trained from scratch is for a GPU; heads are trained as in ``trunks`` and `cifar`'s slots."""

_FIELD_NOTE = (
    "What the literature on forgetting a class of CIFAR-10 reports, in percent, mean (sd) over five seeds, each with a "
    "class of its own: *forgotten*, errors on training samples of the class; *rest*, accuracy on training samples of "
    "the others, and *test*, on their test samples; *attack*, the share of the class's training samples that a "
    "membership attack on the probability of the true class takes for unseen; *seconds*, of the processor on a CPU and "
    "of the clock on a GPU. *Left out* begins with what is there; all else is trained. Of training samples 6,000 are "
    "looked at. Published for ResNet-18 retrained without the class: 100 / 100 / 95.14 / 100, and methods of "
    "unlearning (CoUn, NoT, SalUn, ℓ1-sparse) come so close to it that these figures are saturated: whatever has no "
    "answer for the class has 100 in the first and the last, whatever it still knows."
)
_TELLS_NOTE = (
    "What still tells, mean (sd) over seeds. *Entropy*, in nats, on test samples of the class. *Probe*: balanced "
    "accuracy of a linear probe on the last hidden layer (chance .5). *Steps* and *samples*: how many steps with 100 "
    "samples of the class, and how few samples within 100 steps, are enough to learn it again to nine tenths of the "
    "accuracy of what has it; *not learnt*: seeds in which that is not reached with 100 samples, which do not count in "
    "*steps* and *samples*. *Confidence* and *neural*: AUROC of attacks that tell training samples of the class from "
    "test samples; of 4,000 and 1,000, chance is .480 to .520 for the first and .472 to .528 for the second."
)


def _lines(scale: Scale) -> list[LineTable]:
    """Return a line for everything that forgets, and each way in which it does."""
    lines = [
        Line({"on": setup.on, "part": setup.part, "way": way}, setup.units(), condition=way)
        for setup in _SETUPS[scale]
        for way in _WAYS[setup.kind]
    ]
    return [
        LineTable("What the field measures", lines, _field_columns, _FIELD_NOTE, digits=2),
        LineTable("What still tells", lines, _telling_columns, _TELLS_NOTE),
    ]


def _order(scale: Scale) -> list[Unit]:
    """Return the units trunk by trunk, and of each seed by seed, so that whatever is done is of all kinds."""
    by_trunk: dict[str, list[list[Unit]]] = {}
    for setup in _SETUPS[scale]:
        by_trunk.setdefault(setup.trunk, []).append(setup.units())
    return [unit for kinds in by_trunk.values() for seed in zip(*kinds, strict=True) for unit in seed]


def _values(line: Line, rows: Rows, measure: str, factor: float = 1.0) -> list[float | None]:
    """Return a measure in all seeds that are done."""
    found: list[Row] = [row for row in rows if row is not None]
    values = [row.get(measure, {}).get(line.condition) for row in found]
    return [None if value is None else factor * value for value in values]


def _field_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    errors = [
        None if value is None else 100 - value for value in _values(line, rows, "forgotten_training", 100)
    ]
    return {
        "forgotten": Quantity.of_sample(errors),
        "rest": Quantity.of_sample(_values(line, rows, "rest_training", 100)),
        "test": Quantity.of_sample(_values(line, rows, "rest", 100)),
        "attack": Quantity.of_sample(_values(line, rows, "taken_for_unseen", 100)),
        "seconds": Quantity.of_sample(_values(line, rows, "seconds")),
    }


def _telling_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    steps = _values(line, rows, "steps")
    asked = [] if line.condition == "with it" else steps
    lost = Quantity(sum(value is None for value in asked), of=len(asked)) if asked else None
    return {
        "entropy": Quantity.of_sample(_values(line, rows, "entropy")),
        "probe": Quantity.of_sample(_values(line, rows, "probe")),
        "steps": Quantity.of_sample(steps),
        "samples": Quantity.of_sample(_values(line, rows, "samples")),
        "not learnt": lost,
        "confidence": Quantity.of_sample(_values(line, rows, "confidence")),
        "neural": Quantity.of_sample(_values(line, rows, "neural")),
    }


def _what(line: Line) -> str:
    return f"{line.labels['part']} on {line.labels['on']}"


def _charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw in how many steps the class is learnt again, by what was left and by what never saw it."""
    from matplotlib.figure import Figure

    from ...plotting import line_colours, plain_frame

    drawn = [
        (line, values)
        for line, rows in filled[1].lines
        if (values := [value for value in _values(line, rows, "steps") if value is not None])
    ]
    if not drawn:
        return
    ways = list(dict.fromkeys(line.condition for line, _ in drawn))
    what = list(dict.fromkeys(_what(line) for line, _ in drawn))
    figure = Figure(figsize=(7.4, 1.2 + 0.5 * len(what)), layout="constrained")
    ax = plain_frame(figure.subplots())
    for number, (way, colour) in enumerate(zip(ways, line_colours(len(ways)), strict=True)):
        dots = [
            (value, what.index(_what(line)) + 0.15 * number)
            for line, values in drawn
            if line.condition == way
            for value in values
        ]
        steps, places = zip(*dots, strict=True)
        ax.scatter(steps, places, s=22, alpha=0.7, color=colour, label=way)
    ax.set_yticks(range(len(what)), what)
    ax.invert_yaxis()
    ax.set(xlabel="steps until the class is learnt again, from 100 samples of it; a dot for each seed")
    figure.legend(loc="outside upper right", ncols=len(ways), frameon=False, fontsize=8)
    yield "learnt-again", figure


RECIPES = (
    Recipe(
        "forget",
        "beyond",
        "Forgetting a class: leaving a part out beside retraining, and what still tells",
        "what the literature on unlearning reports, and what it does not",
        _lines,
        _charts,
        order=_order,
    ),
)
