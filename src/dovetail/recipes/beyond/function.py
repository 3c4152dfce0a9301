"""Function: whether clusters by weights tell which classes a unit's removal costs, better than its layer does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from ..line import FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Row, Unit

_SEEDS = [0, 1, 2]
_DIGITS = {"name": "digits", "options": {}}
_UNITS: dict[Scale, dict[str, dict[str, Any]]] = {
    "paper": {
        "ResNet-20 on CIFAR-10": {
            "network": "resnet20",
            "data": {"name": "cifar10", "options": {"scale": "unit"}},
            "training": None,
            "samples": 100,
        },
        "perceptron on MNIST": {
            "network": "mlp:128-128-128",
            "data": {"name": "mnist", "options": {}},
            "training": {"seeds": _SEEDS, "samples": 10_000, "epochs": 10, "batch_size": 128},
            "samples": 500,
        },
        "transformer on digits": {
            "network": "vit:32,depth=4,heads=4,patch=2",
            "data": _DIGITS,
            "training": {"seeds": _SEEDS, "samples": 1149, "epochs": 40, "batch_size": 64},
            "samples": 120,
        },
    },
    "smoke": {
        "perceptron on digits": {
            "network": "mlp:24-24",
            "data": _DIGITS,
            "training": {"seeds": [0], "samples": 500, "epochs": 5, "batch_size": 64},
            "samples": 100,
        },
        "transformer on digits": {
            "network": "vit:8,depth=2,heads=2,patch=4",
            "data": _DIGITS,
            "training": {"seeds": [0], "samples": 500, "epochs": 5, "batch_size": 64},
            "samples": 60,
        },
    },
}
_NOTE = (
    "Each unit (a dense unit, a channel) or head of attention is taken out alone; its profile is the rise of the "
    "loss on each class, without its mean and scaled to length 1: which classes it costs, not how much. *Layers*,"
    " *clusters*, *both*: the share of the variance of profiles that lies between them, clusters being those of "
    "the weights. *At random*: both, with clusters dealt out anew within layers; *p* is how often these explain "
    "as much, the null that keeps depth. *p anywhere*: of clusters dealt out among all units. *Agreement*: "
    "adjusted Rand index of clusters by weights with as many clusters by function (k-means of profiles), *by "
    "chance* within layers, and its p. *Halves*: how far profiles from two halves of the samples agree. Means "
    "over seeds, and for p how many are at most .05."
)
_PARTS = {"layers": "by_layers", "clusters": "by_clusters", "both": "by_both", "at random": "within"}
_AGREEMENT = {"agreement": "agreement", "by chance": "chance_agreement"}
_COUNTED = {"p anywhere": "p_anywhere", "p": "p_value", "p of agreement": "p_agreement"}
_LEVEL = 0.05


def _lines(scale: Scale) -> list[LineTable]:
    """Return a line for each network, number of clusters, and kind of thing that is taken out."""
    paper = scale == "paper"
    numbers = [4, 12] if paper else [3]
    lines = []
    for title, settings in _UNITS[scale].items():
        unit = Unit(
            "beyond/function", {**settings, "k": numbers, "permutations": 999 if paper else 49, "seed": 0}
        )
        for kind in ("units", "heads") if settings["network"].startswith("vit") else ("units",):
            lines += [
                Line({"network": title, "without one of its": kind, "k": k}, [unit], condition=(kind, k))
                for k in numbers
            ]
    return [LineTable("Clusters and function", lines, _columns, _NOTE, all_lines=False)]


def _measured(line: Line, rows: Rows) -> list[tuple[Row, Row]]:
    """Return what was found for each seed: of all numbers of clusters, and of this one."""
    kind, k = line.condition
    if rows[0] is None:
        return []
    kinds = [one for network in rows[0]["found"] for one in network if one["of"] == kind]
    return [(one, found) for one in kinds if (found := one["by_k"][str(k)])]


def _columns(line: Line, rows: Rows) -> Mapping[str, Quantity | None]:
    measured = _measured(line, rows)
    if not measured:
        return {}
    found = [one for _, one in measured]
    accuracies = rows[0]["accuracies"] if rows[0] else []

    def mean(names: Mapping[str, str]) -> dict[str, Quantity | None]:
        return {column: Quantity.of_sample([one[name] for one in found]) for column, name in names.items()}

    counted = {
        column: Quantity(sum(one[name] <= _LEVEL for one in found), of=len(found))
        for column, name in _COUNTED.items()
    }
    return {
        "accuracy": Quantity.of_sample(accuracies),
        "units": Quantity(fmean(one["units"] for one in found)),
        "halves": Quantity.of_sample([whole["reliability"] for whole, _ in measured]),
        **mean(_PARTS),
        **counted,
        **mean(_AGREEMENT),
    }


def _charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw what layers explain, what clusters add, and what clusters at random within layers add."""
    from matplotlib.figure import Figure

    from ...plotting import GREY, LINE_COLOURS, plain_frame

    drawn = [(line, [one for _, one in _measured(line, rows)]) for line, rows in filled[0].lines]
    drawn = [(line, found) for line, found in drawn if found]
    figure = Figure(figsize=(7.0, 1.2 + 0.5 * len(drawn)), layout="constrained")
    ax = plain_frame(figure.subplots())
    for place, (_, found) in enumerate(drawn):
        layers, both = (fmean(one[name] for one in found) for name in ("by_layers", "by_both"))
        random, spread = (fmean(one[name] for one in found) for name in ("within", "within_sd"))
        ax.barh(
            place, both, height=0.5, color=LINE_COLOURS[0], label=None if place else "layers and clusters"
        )
        ax.barh(place, layers, height=0.5, color=LINE_COLOURS[5], label=None if place else "layers alone")
        ax.errorbar(
            random, place, xerr=2 * spread, color="black", ecolor=GREY, marker="|", markersize=16,
            label=None if place else "with clusters at random within layers (± 2 sd)", linestyle="none",
        )  # fmt: skip
    names = [", ".join(map(str, line.labels.values())) for line, _ in drawn]
    ax.set_yticks(range(len(drawn)), names, fontsize=8)
    ax.invert_yaxis()
    ax.set(xlabel="share of the variance of profiles that is explained", xlim=(0, 1))
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    yield "explained", figure


RECIPES = (
    Recipe(
        "function",
        "beyond",
        "Do clusters by weights tell what units do?",
        "no paper's table",
        _lines,
        _charts,
    ),
)
