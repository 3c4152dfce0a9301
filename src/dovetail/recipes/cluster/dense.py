"""Dense networks: on images, on two images side by side, on noise, on polynomials and on mixtures; cut in other k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..line import FilledTable, LineTable
from ..recipe import Figures, Recipe, Scale
from .comparing import COLUMNS_NOTE, TitledLines, columns, comparing, stage_places
from .conditions import (
    DENSE,
    DENSE_REGULARISATION,
    L2_SLIP,
    L2_SLIP_NOTE,
    REGULARISATION,
    SMOKE_DENSE,
    lines,
    networks_unit,
    published_as,
    stage_line,
)


def _mlp(scale: Scale) -> TitledLines:
    """Return five conditions for each data set."""
    if scale == "smoke":
        return {
            "Dense networks, digits": [
                lines("digits", SMOKE_DENSE, changes, {"data": "digits", "condition": name})
                for name, changes in DENSE_REGULARISATION.items()
            ]
        }
    return {
        f"Table {table}: dense networks, {data}": [
            lines(
                data, DENSE, changes, {"data": data, "condition": name},
                _published(name, table=table, network="mlp", dataset=data),
            )
            for name, changes in DENSE_REGULARISATION.items()
        ]
        for table, data in (("A.5", "mnist"), ("A.6", "fashion-mnist"))
    }  # fmt: skip


def _published(condition: str, **labels: str) -> dict[str, str] | None:
    """Return where the paper has a condition."""
    published = published_as(condition)
    return {**labels, "regularisation": published} if published else None


MLP = comparing(
    "mlp",
    "Are dense networks more clusterable than chance would have it, and what do pruning and regularisation change?",
    "Figures 2 and 3, Tables A.5 and A.6",
    _mlp,
    note="At the paper's scale: four hidden layers of 256; 20 epochs, then 20 with pruning to 90 %; "
    f"five networks a condition. {L2_SLIP_NOTE}",
)


def _halves(scale: Scale) -> TitledLines:
    """Return both variants for each data set."""
    paper = scale == "paper"
    return {
        "Table A.7: dense networks, two images side by side" if paper else "Dense networks, two digits side by side": [
            lines(
                f"halves:base={base},variant={variant}", DENSE if paper else SMOKE_DENSE, {},
                {"data": f"{base}-halves-{variant}"},
                {"table": "A.7", "dataset": f"{base}-halves-{variant}"} if paper else None,
            )
            for base in (("mnist", "fashion-mnist") if paper else ("digits",))
            for variant in ("same", "diff")
        ]
    }  # fmt: skip


HALVES = comparing(
    "halves",
    "Are networks more clusterable when their task falls into two that can be done side by side?",
    "Figure 5, Table A.7",
    _halves,
    note="*Same*: both images are of one class. *Diff*: any two; the label is the sum of theirs modulo 10.",
)

# The sets come with more images for validation, which train too: ``samples`` leaves as many as the paper had.
_NOISE: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "unlearnable": ("A.16", "random", {"samples": 60_000}),
    "kilo-epoch": ("A.17", "random", {"samples": 60_000, "epochs": 1000}),
    "memorisation": ("A.18", "random:samples=3000", {"samples": 3000, "epochs": 100, "pruning_epochs": 100}),
}
_SMOKE_NOISE: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "unlearnable": ("random:samples=1000", {"samples": 1000, "epochs": 3, "pruning_epochs": 3}),
    "kilo-epoch": ("random:samples=1000", {"samples": 1000, "epochs": 6, "pruning_epochs": 3}),
    "memorisation": ("random:samples=300", {"samples": 300, "epochs": 40, "pruning_epochs": 20}),
}


def _random(scale: Scale) -> TitledLines:
    """Return three experiments, each without dropout and with it; at smoke scale only without."""
    if scale == "smoke":
        return {
            "Random images": [
                lines(
                    data, SMOKE_DENSE, {"seeds": range(2), **changes}, {"experiment": name, "condition": "none"}
                )
                for name, (data, changes) in _SMOKE_NOISE.items()
            ]
        }  # fmt: skip
    return {
        f"Table {table}: random images, {name}": [
            lines(
                data, DENSE, {"seeds": range(10), **changes, **REGULARISATION[condition]},
                {"experiment": name, "condition": condition},
                {"table": table, "regularisation": condition},
            )
            for condition in ("none", "dropout")
        ]
        for name, (table, data, changes) in _NOISE.items()
    }  # fmt: skip


RANDOM = comparing(
    "random",
    "Does clusterability come from training as such, or from learning?",
    "Tables A.16 to A.18",
    _random,
    note="Random pixels with random labels; ten networks a condition. *Unlearnable*: 60,000 images, 20 epochs, then "
    "20 with pruning. *Kilo-epoch*: 1,000 epochs in place of the first 20; the paper says that pruning was left out, "
    "but prints n-cuts of pruned networks, so ours are pruned for 20 epochs more. *Memorisation*: 3,000 images, 100 "
    "epochs, then 100 with pruning; the paper showed them in the same order every epoch, ours are shuffled. None of "
    "these published values is in the authors' result files. Test accuracies, on other random images, are chance.",
)


def _polynomials(scale: Scale) -> TitledLines:
    """Return four conditions; the paper left dropout out because it did harm."""
    paper = scale == "paper"
    data, samples = ("polynomials", 60_000) if paper else ("polynomials:samples=1500", 1500)
    network = DENSE if paper else {**SMOKE_DENSE, "seeds": range(2)}
    return {
        "Table A.19: polynomials" if paper else "Polynomials": [
            lines(
                data, network, {"samples": samples, **DENSE_REGULARISATION[name]}, {"condition": name},
                _published(name, table="A.19") if paper else None,
            )
            for name in ("none", "l1", "l2", L2_SLIP)
        ]
    }  # fmt: skip


POLYNOMIALS = comparing(
    "polynomials",
    "Are networks clusterable that compute many functions of shared terms?",
    "Figure A.7, Table A.19",
    _polynomials,
    score="loss",
    note="Each of the 512 outputs is a sum of some of the nine monomials x^i y^j with i, j up to 2; the loss is the "
    "mean squared error, without the penalty, which the published losses with l1 and l2 contain. Five networks a "
    "condition, 60,000 samples (the paper does not say how many). The published n-cuts of unpruned networks differ "
    "from the authors' result files (l2: 8.115 printed, 8.300 there), and the pruned ones are in no file. "
    f"{L2_SLIP_NOTE}",
)

_MIXTURES: Mapping[str, str] = {
    "mnist": "mnist",
    "lines": "lines",
    "lines-mnist": "mixture:kind=overlapping,base=mnist,size=both",
    "lines-mnist-sep": "mixture:kind=separate,base=mnist,size=both",
}
"""By the published name."""
_WHOLE = ",size=both"
"""The union of both sets; until lately lines took the places of images, so that there were as many as in one set."""
_SMOKE_MIXTURES: Mapping[str, str] = {
    "lines": "lines:train_samples=2000,test_samples=500",
    # Digits are too narrow for ten lines; random images are not.
    "lines-random": "mixture:kind=overlapping,base=random,size=both",
    "lines-random-sep": "mixture:kind=separate,base=random,size=both",
}


def _mixtures(scale: Scale) -> TitledLines:
    """Return four data sets without dropout, and with it; at smoke scale three without, and lines with it."""
    if scale == "smoke":
        network = {**SMOKE_DENSE, "seeds": range(2), "samples": 2000, "epochs": 8, "pruning_epochs": 8}
        return {
            "Mixtures": [
                lines(
                    _SMOKE_MIXTURES[name], network, REGULARISATION[condition],
                    {"data": name, "condition": condition}, stages=["pruned"],
                )
                for name, condition in [*((name, "none") for name in _SMOKE_MIXTURES), ("lines", "dropout")]
            ]
        }  # fmt: skip
    return {
        f"Table {table}: mixtures, {condition}": [
            lines(
                data, DENSE, REGULARISATION[condition], {"data": name, "condition": condition},
                {"table": table, "dataset": name}, stages=["pruned"],
                before={"data": data.removesuffix(_WHOLE)} if data.endswith(_WHOLE) else None,
            )
            for name, data in _MIXTURES.items()
        ]
        for table, condition in (("A.20", "none"), ("A.21", "dropout"))
    }  # fmt: skip


MIXTURES = comparing(
    "mixtures",
    "Do networks on two kinds of images have a region for each?",
    "Tables A.20 and A.21",
    _mixtures,
    note="*Lines*: one to ten white columns, labelled by their number. *lines-mnist*: both whole sets together, "
    "120,000 images; *sep*: classes 0 to 4 of lines with 5 to 9 of the other images. If each kind of images had a "
    "region of its own, networks on mixtures would have lower n-cuts than those on either kind. Five pruned networks "
    "a condition.",
)

_CLUSTERS: Mapping[str, int] = {"A.1": 4, "A.2": 7, "A.3": 10, "A.4": 2}
"""Clusters in each table; the order of the units' measures."""
_K_NOTE = (
    "Ten pruned networks a condition, 320 shuffled copies each. The published accuracies are the same in all four "
    "tables; none of these published values is in the authors' result files."
)


def _k(scale: Scale) -> list[LineTable]:
    """Return a table for each number of clusters, all of the same networks."""
    paper = scale == "paper"
    copies = 320 if paper else 20
    # Five networks a unit: most of the time goes into copies, which runs on cores and not on the GPU.
    seeds = (range(5), range(5, 10)) if paper else (range(2),)
    network = {
        **(DENSE if paper else SMOKE_DENSE),
        "stages": ["pruned"],
        "measures": [{"k": k, "shuffles": copies} for k in _CLUSTERS.values()],
    }
    units = {
        (data, name): [networks_unit(data, **{**network, **REGULARISATION[name], "seeds": some}) for some in seeds]
        for data in (("mnist", "fashion-mnist") if paper else ("digits",))
        for name in ("none", "dropout")
    }  # fmt: skip
    return [
        LineTable(
            f"Table {table}: {k} clusters" if paper else f"{k} clusters",
            [
                stage_line(
                    networks, {"data": data, "condition": name},
                    {"table": table, "dataset": data, "regularisation": name} if paper else None,
                )
                for (data, name), networks in units.items()
            ],
            # What only networks fall below that are more clusterable than all copies, as the paper writes it.
            columns(measure, threshold=f"1/{copies}"),
            f"{_K_NOTE} {COLUMNS_NOTE}",
        )
        for measure, (table, k) in enumerate(_CLUSTERS.items())
    ]  # fmt: skip


def _k_chart(filled: Sequence[FilledTable]) -> Figures:
    """Draw n-cuts beside those of shuffled copies: a panel for each number of clusters."""
    from .figures import ncut_figure

    panels = {
        table.title: stage_places(table.lines, "pruned", measure) for measure, table in enumerate(filled)
    }
    yield "k", ncut_figure(panels)


K = Recipe(
    "k",
    "cluster",
    "Does it matter into how many clusters networks are cut?",
    "Tables A.1 to A.4",
    _k,
    _k_chart,
)

RECIPES = (MLP, HALVES, RANDOM, POLYNOMIALS, MIXTURES, K)
