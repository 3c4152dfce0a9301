"""Convolutional networks from scratch: sums of narrow ones in slots, of whole ones, and their averaged logits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ..line import Line, LineTable, Rows, units_of
from ..recipe import Recipe, Scale
from ..tables import Quantity
from ..unit import Row, Unit

_CLASSES = 10


@dataclass(frozen=True)
class Setup:
    """What all networks of a scale share.

    Attributes
    ----------
    data : mapping
        Name and options.
    seeds : sequence of int
        Each trains all networks once.
    augment : bool
        Whether training images are turned, shifted and mirrored.
    inputs : int
        Training images without labels that batch-norm statistics are recomputed on.
    training : mapping
        By kind of network, how it is trained.
    nets : sequence of Net
        The networks.
    """

    data: Mapping[str, Any]
    seeds: Sequence[int]
    augment: bool
    inputs: int
    training: Mapping[str, Mapping[str, Any]]
    nets: Sequence[Net]


@dataclass(frozen=True)
class Net:
    """An architecture: whole, and as wide as its classes together are in slots.

    Attributes
    ----------
    title : str
        What lines call it.
    whole : str
        The spec of a generalist, and of specialists without slots.
    slots : str
        The spec that is shared out among classes.
    sizes : sequence of int
        How many classes a specialist without slots is rewarded for.
    kind : str
        How it is trained.
    """

    title: str
    whole: str
    slots: str
    sizes: Sequence[int]
    kind: str = "convolutional"


_ON_GPU = {"batch_size": 128, "epochs": 45, "patience": None, "schedule": "one-cycle", "autocast": "bfloat16"}
_SETUPS: dict[Scale, Setup] = {
    "paper": Setup(
        {"name": "cifar10", "options": {}},
        (0, 1, 2),
        augment=True,
        inputs=2048,
        training={
            "convolutional": {**_ON_GPU, "optimizer": "adamw", "lr": 2e-3, "weight_decay": 0.01, "temperature": 1.0},
            "attention": {**_ON_GPU, "optimizer": "adamw", "lr": 1e-3, "weight_decay": 0.05, "temperature": 1.0},
        },
        nets=(
            Net("ResNet-18", "resnet18", "resnet18:240", (1, 2, 5)),
            # Each class has heads and layer norms of its own, and all together about as many weights as the whole one.
            Net("small ViT", "vit", "vit:640,heads=40,groups=10", (1,), kind="attention"),
            Net("VGG-11", "vgg11", "vgg11:240", (1,)),
        ),
    ),
    "smoke": Setup(
        {"name": "digits", "options": {}},
        (0,),
        augment=False,
        inputs=256,
        training={
            "convolutional": {
                "batch_size": 64, "epochs": 12, "patience": None, "lr": 5e-3, "temperature": 1.0
            }
        },
        nets=(Net("LeNet", "lenet:8-32-16", "lenet:40-120-60", (5,)),),
    ),
}  # fmt: skip
"""At paper scale, schedules and step sizes are those that networks of these kinds are usually trained with here; they
are to be checked on validation samples before the first run."""

_NOTE = (
    "Test accuracy over all ten classes, mean (sd) over seeds; everything is trained for as many epochs. *In slots*: "
    "ten narrow networks, one for each class, whose sum is one network; *share* of the generalist's accuracy; *one "
    "left out*: mean accuracy over the other classes when each in turn is left out. Others are whole networks, one for "
    "each set of |R| classes; batch-norm statistics of their sum are recomputed on unlabelled training images. A later "
    "version of the paper has such networks; its numbers are not at hand."
)


def _units(
    setup: Setup, net: Net, spec: str, rewarded: Sequence[Sequence[int]], *, slots: bool
) -> list[Unit]:
    """Return a unit for each seed: they take minutes, and a table is whole with one of them."""
    alone = len(rewarded) == 1
    settings = {
        "data": dict(setup.data),
        "net": spec,
        "rewarded": [list(ids) for ids in rewarded],
        "slots": slots,
        "augment": setup.augment,
        "inputs": setup.inputs,
        "methods": ["sum"] if slots or alone else ["sum", "logits"],
        "training": dict(setup.training[net.kind]),
    }
    return [Unit("beyond/from-scratch", {**settings, "seeds": [seed]}) for seed in setup.seeds]


def _sets(size: int) -> list[list[int]]:
    """Return all classes in sets of some size.

    Examples
    --------
    >>> _sets(5)
    [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    """
    return [list(range(first, first + size)) for first in range(0, _CLASSES, size)]


def _lines(scale: Scale) -> list[LineTable]:
    """Return a line for each network and size of sets; what is trained anyway stands in all lines of a network."""
    setup = _SETUPS[scale]
    lines = []
    for net in setup.nets:
        generalists = _units(setup, net, net.whole, [list(range(_CLASSES))], slots=False)
        whole = [_units(setup, net, net.whole, _sets(size), slots=False) for size in net.sizes]
        slots = _units(setup, net, net.slots, _sets(1), slots=True)
        lines += [
            Line({"net": net.title, **_labels(parts[0])}, [*generalists, *parts]) for parts in [slots, *whole]
        ]
    return [LineTable("From scratch", lines, _columns, _NOTE, digits=4)]


def _order(scale: Scale) -> list[Unit]:
    """Return units seed by seed, so that the table is whole as early as can be; of a seed the longest are the last."""
    units = units_of(line for table in _lines(scale) for line in table.lines)

    def when(unit: Unit) -> tuple[int, int]:
        whole = 0 if unit.settings["slots"] else len(unit.settings["rewarded"])
        return unit.settings["seeds"][0], whole

    return sorted(units, key=when)


def _labels(unit: Unit) -> dict[str, Any]:
    size = len(unit.settings["rewarded"][0])
    return {
        "specialists": unit.settings["net"] + (" in slots" if unit.settings["slots"] else ""),
        "|R|": size,
    }


def _columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    half = len(rows) // 2
    generalists, parts = ([row for row in some if row] for some in (rows[:half], rows[half:]))
    pairs = [(one, other) for one, other in zip(rows[:half], rows[half:], strict=True) if one and other]
    share = (
        fmean(_of_sum(other) for _, other in pairs) / fmean(_of_sum(one) for one, _ in pairs)
        if pairs
        else None
    )
    merged = {
        method: {name: [row["merged"][method][name][0] for row in parts] for name in ("accuracy", "left_out")}
        for method in ("sum", "logits")
        if parts and method in parts[0]["merged"]
    }
    return {
        "generalist": Quantity.of_sample([_of_sum(row) for row in generalists]),
        "alone": Quantity.of_sample([row["alone"][0] for row in parts]) if parts else None,
        **{
            title: Quantity.of_sample(merged[method]["accuracy"]) if method in merged else None
            for method, title in (("sum", "sum"), ("logits", "averaged logits"))
        },
        "share of the sum": None if share is None else Quantity(share),
        "one left out": Quantity.of_sample(merged["sum"]["left_out"]) if merged else None,
    }


def _of_sum(row: Row) -> float:
    """Return the accuracy of the sum; a generalist is a sum of one."""
    accuracy: float = row["merged"]["sum"]["accuracy"][0]
    return accuracy


RECIPES = (
    Recipe(
        "cifar",
        "beyond",
        "ResNets, VGGs and a small ViT from scratch, as parts",
        "what a later version of the paper has, without its numbers",
        _lines,
        order=_order,
    ),
)
