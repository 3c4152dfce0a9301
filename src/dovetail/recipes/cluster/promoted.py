"""Networks in which clusterability is promoted: by clusterable initialisation, and by a penalty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..line import Line
from ..recipe import Scale
from .comparing import TitledLines, comparing
from .conditions import DENSE, SMALL_CNN, SMOKE_CNN, SMOKE_DENSE, VGG, lines

_STARTS = {"ordinary": {}, "clusterable": {"init_beta": 0.6}}
_CNN_STARTS = {"ordinary": {}, "clusterable": {"init_beta": 0.8}}


def _init(scale: Scale) -> TitledLines:
    """Return dense, small convolutional and VGG networks; the ordinary ones are those of the other recipes."""
    if scale == "smoke":
        kinds = {
            "Dense networks, digits": (SMOKE_DENSE, _STARTS),
            "Small CNNs, digits": (SMOKE_CNN, _CNN_STARTS),
        }
        return {
            title: [
                lines("digits", network, changes, {"data": "digits", "initialisation": name})
                for name, changes in starts.items()
            ]
            for title, (network, starts) in kinds.items()
        }
    vgg = lines(
        "cifar10", VGG, _CNN_STARTS["clusterable"], {"data": "cifar-10", "initialisation": "clusterable"},
        {"table": "A.15"}, apart=True,
    )  # fmt: skip
    return {
        "Table A.13: dense networks": _starts(DENSE, _STARTS, "A.13", {"mnist": "A.5", "fashion-mnist": "A.6"}),
        "Table A.14: small CNNs": _starts(
            SMALL_CNN, _CNN_STARTS, "A.14", {"mnist": "A.8", "fashion-mnist": "A.9"}
        ),
        "Table A.15: VGG-16": [vgg],
    }  # fmt: skip


def _starts(
    network: Mapping[str, Any], starts: Mapping[str, Any], table: str, ordinary_tables: Mapping[str, str]
) -> list[list[Line]]:
    """Return ordinary and clusterable networks for each data set, each with the table that they are published in."""
    return [
        lines(
            data, network, starts[name], {"data": data, "initialisation": name},
            {"table": published, "dataset": data, "regularisation": regularisation},
        )
        for data, ordinary in ordinary_tables.items()
        for name, published, regularisation in (
            ("ordinary", ordinary, "none"),
            ("clusterable", table, "clusterable-init"),
        )
    ]  # fmt: skip


INIT = comparing(
    "init",
    "Do networks stay clusterable when they start so?",
    "Figures 13 to 15, Tables A.13 to A.15",
    _init,
    note="Ten tags; weights between units of different tags are multiplied by β = .6 (convolutional networks: .8), "
    "those between units of the same tag are made larger. Kernels by the matrix 1-norm. "
    f"VGG-16 trains for {VGG['epochs']} and {VGG['pruning_epochs']} epochs (the paper: 200 and 50).",
)

_PENALISED: Mapping[str, Any] = {
    "net": "mlp:64-64-64",
    "seeds": range(10),
    "epochs": 10,
    "pruning_epochs": 10,
    "measures": [{}, {"part": "largest"}],
}
_SMOKE_PENALISED: Mapping[str, Any] = {
    "net": "mlp:32-32-32",
    "seeds": range(3),
    "epochs": 10,
    "pruning_epochs": 10,
    "batch_size": 64,
    "measures": [{"k": 6, "shuffles": 20}, {"k": 6, "shuffles": 20, "part": "largest"}],
}
_PENALTIES: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    # The paper's weight is .1, its program's gradient half the true one: .05 here is the same.
    "regularised": {"penalty": 0.05},
    # With weights kept from growing, which rescaling alone lets them do; and with as many eigenvalues as clusters.
    "l1": {"l1": 5e-5},
    "regularised-l1": {"penalty": 0.1, "l1": 5e-5},
    "regularised-l2": {"penalty": 0.2, "l2": 1e-4},
    "regularised-l1-k12": {"penalty": 0.1, "l1": 5e-5, "penalty_k": 12},
}
_PUBLISHED_PENALTIES = {"none": "none", "regularised": "clusterability"}


def _regulariser(scale: Scale) -> TitledLines:
    """Return the paper's two conditions, and four more of ours."""
    if scale == "smoke":
        return {
            "The penalty, digits": [
                lines("digits", _SMOKE_PENALISED, _PENALTIES[name], {"data": "digits", "condition": name})
                for name in ("none", "regularised", "regularised-l1")
            ]
        }  # fmt: skip
    return {
        "Table 1: the penalty": [
            lines(
                "mnist-7x7", _PENALISED, changes, {"data": "mnist-7x7", "condition": name},
                {"table": "1", "regularisation": _PUBLISHED_PENALTIES[name]} if name in _PUBLISHED_PENALTIES else None,
            )
            for name, changes in _PENALTIES.items()
        ]
    }  # fmt: skip


REGULARISER = comparing(
    "regulariser",
    "Does a penalty on the Laplacian's eigenvalues make networks clusterable?",
    "Figure A.5, Table 1",
    _regulariser,
    measures=("", "; the largest connected part alone"),
    note="At the paper's scale: 49-64-64-64-10; 10 epochs, then 10 with pruning to 90 %; ten networks a condition. "
    "*Regularised* is the paper's, with weight .05; the others are ours: weight .1 with L1 5e-5, .2 with L2 1e-4, "
    "and .1 with L1 on twelve eigenvalues in place of four. "
    "The penalty may cut off islands of a few units, hence the second table.",
)

RECIPES = (INIT, REGULARISER)
