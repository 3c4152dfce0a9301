"""Owners who send what they have learned once: how near it comes to training on the samples of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ..line import FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Unit

JOINT = "joint head"
METHODS = {
    "specialists": "parts",
    "sums": "parts",
    "both": "parts",
    "averaged logits": "federated",
    "FedAvg, 1 round": "federated",
    "FedAvg, 10 rounds": "federated",
    "FedAvg, 100 rounds": "federated",
    JOINT: "federated",
}
"""What is compared, and which kind of unit measures it; the last needs the samples of all."""
SHARES = {"classes": "classes of their own", "dirichlet": "Dirichlet(.1) shares"}
"""What owners have, and how lines call it."""


@dataclass(frozen=True)
class Owned:
    """A data set that ten have together, and how they learn.

    Attributes
    ----------
    title : str
        What lines call it.
    trunk, data : str, mapping
        A known trunk, and name and options of the data.
    inputs, outputs : int
        Features of a sample, and classes of the data.
    units : int
        Hidden units of a class, for specialists.
    training, head : mapping
        How specialists and heads are trained.
    lr : float
        Step size of owners in federated averaging.
    seeds : mapping of str to int
        How many there are of each kind.
    rounds : sequence of pairs
        Of federated averaging: how many, and how many epochs owners train in each.
    features : int
        Random features of sums.
    """

    title: str
    trunk: str
    data: Mapping[str, Any]
    inputs: int
    outputs: int
    units: int
    training: Mapping[str, Any]
    head: Mapping[str, Any]
    lr: float
    seeds: Mapping[str, int]
    rounds: Sequence[tuple[int, int]] = ((1, 10), (10, 2), (100, 1))
    features: int = 2000

    def units_of(self, shares: str, kind: str) -> list[Unit]:
        """Return the units of one kind, for each seed."""
        settings = {
            "trunk": self.trunk,
            "data": dict(self.data),
            "inputs": self.inputs,
            "outputs": self.outputs,
            "owners": 10,
            "shares": shares,
            "units": self.units,
            "training": dict(self.training),
            "head": dict(self.head),
            "lr": self.lr,
            "rounds": [list(pair) for pair in self.rounds],
            "features": self.features,
            "kind": kind,
        }
        return [Unit("beyond/owning", settings | {"seed": seed}) for seed in range(self.seeds[kind])]


_OWNED: dict[Scale, tuple[Owned, ...]] = {
    "paper": (
        Owned(
            "CLINC150 on MiniLM-L6",
            "all-minilm-l6-v2",
            {"name": "clinc150", "options": {}},
            384,
            150,
            10,
            {"epochs": 10, "lr": 3e-3, "batch_size": 128},
            {"hidden": 256, "epochs": 10, "lr": 1e-3, "batch_size": 64},
            0.5,
            {"parts": 1, "federated": 1},
        ),
        Owned(
            "CIFAR-10 on EfficientNet-lite0",
            "efficientnet-lite0",
            {"name": "cifar10", "options": {"scale": "unit"}},
            1280,
            10,
            16,
            {"epochs": 4, "lr": 1e-3, "batch_size": 256},
            {"hidden": 64, "epochs": 4, "lr": 1e-3, "batch_size": 128},
            0.5,
            {"parts": 1, "federated": 1},
        ),
    ),
    "smoke": (
        Owned(
            "digits on a small LeNet",
            "small-lenet",
            {"name": "digits", "options": {}},
            16,
            10,
            8,
            {"epochs": 8, "lr": 1e-2, "batch_size": 64},
            {"hidden": 40, "epochs": 10, "lr": 5e-3, "batch_size": 64},
            0.2,
            {"parts": 1, "federated": 1},
            ((1, 5), (10, 1), (100, 1)),
            100,
        ),
    ),
}

_NOTE = (
    "Test accuracy over all classes, of one seed. Ten owners have *classes of their own* (one of CIFAR-10, fifteen "
    "of CLINC150), or of each class shares that are drawn from a Dirichlet distribution of concentration .1. "
    "*Specialists*: owners send the cards of their classes, get those of the others, and send the part of each "
    "class of which they have the most samples, trained on all of their own samples and draws of the cards of the "
    "others. *Sums* are sent once, and nothing is got. *Both*: `dt.combine`, weighed on the validation samples of "
    "all. *Averaged logits*: of heads that each owner trained alone. *FedAvg*: federated averaging of one hidden "
    "layer by plain gradient descent, ten epochs in one round, two in each of 10, one in each of 100. *Together* "
    "and *joint*: on the samples of all. *Below joint*: the joint head less this. *MB sent*: by an owner, in the "
    "mean; cards are in the files of parts. How all are trained was set beforehand but for the step size of "
    "federated averaging, the best of .05, .2 and .5 on validation samples after ten rounds of one epoch with "
    "Dirichlet shares (larger ones were not tried)."
)


def _lines(scale: Scale) -> list[LineTable]:
    """Return what comes of what owners send."""
    return [
        LineTable("What comes of it", list(_all_lines(scale)), _columns, _NOTE, digits=4, all_lines=False)
    ]


def _all_lines(scale: Scale) -> Iterator[Line]:
    """Yield a line for each method, which also has the joint heads that it is compared with."""
    for one in _OWNED[scale]:
        for shares, title in SHARES.items():
            joint = one.units_of(shares, "federated")
            for method, kind in METHODS.items():
                own = one.units_of(shares, kind)
                labels = {"data": one.title, "owners have": title, "method": method}
                yield Line(labels, [*own, *joint], condition=(method, len(own)))


def _of(rows: Rows, method: str, metric: str) -> list[float]:
    return [
        row["methods"][method][metric]
        for row in rows
        if row and row["methods"].get(method, {}).get(metric) is not None
    ]


def _columns(line: Line, rows: Rows) -> dict[str, Quantity]:
    method, own = line.condition
    scores, joint = _of(rows[:own], method, "accuracy"), _of(rows[own:], JOINT, "accuracy")
    columns = {"accuracy": Quantity.of_sample(scores)}
    if scores and joint and method != JOINT:
        columns["below joint"] = Quantity(fmean(joint) - fmean(scores))
    if sent := _of(rows[:own], method, "sent"):
        columns["MB sent"] = Quantity(fmean(sent) / 1e6)
    return {name: value for name, value in columns.items() if value is not None}


def _charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw the accuracy of all methods, for each data set and each way to share it out."""
    from matplotlib.figure import Figure

    from ...plotting import line_colours, plain_frame

    found: dict[tuple[str, str], dict[str, float]] = {}
    for line, rows in filled[0].lines:
        method, own = line.condition
        if scores := _of(rows[:own], method, "accuracy"):
            found.setdefault((line.labels["data"], line.labels["owners have"]), {})[method] = fmean(scores)
    if not found:
        return
    figure = Figure(figsize=(7, 0.8 + 3.0 * -(-len(found) // 2)), layout="constrained")
    axes = figure.subplots(-(-len(found) // 2), 2, squeeze=False).flatten()
    colours = dict(zip(("parts", "federated"), line_colours(2), strict=True))
    for ax in axes[len(found) :]:
        ax.set_visible(False)
    for ax, ((data, shares), methods) in zip(axes, found.items(), strict=False):
        plain_frame(ax)
        shown = list(reversed(methods))
        ax.barh(
            shown,
            [methods[name] for name in shown],
            color=[colours[METHODS[name]] for name in shown],
            height=0.6,
        )
        ax.set(xlim=(0, 1), xlabel="test accuracy")
        ax.set_title(f"{data}: {shares}", fontsize=8)
        ax.tick_params(labelsize=7)
    yield "owners", figure


RECIPES = (
    Recipe(
        "owners",
        "beyond",
        "One shot, many owners",
        "no paper's question",
        _lines,
        _charts,
    ),
)
