"""Clusterable initialisation."""

from __future__ import annotations

from ..recipe import Scale
from .conditions import CNN_IN_SMALL, DENSE, DENSE_IN_SMALL, SMALL_CNN, VGG, line
from .lines import Line
from .tables import Tables, lines_recipe

_CHANGES = {"ordinary": {}, "clusterable": {"init_beta": 0.6}}
_CHANGES_CNN = {"ordinary": {}, "clusterable": {"init_beta": 0.8}}


def tables_at(scale: Scale) -> Tables:
    """Return dense, small convolutional and VGG networks; the ordinary ones are those of the other recipes."""
    if scale == "smoke":
        return {
            "Dense networks, digits": [
                line("digits", DENSE_IN_SMALL, changes, labels={"data": "digits", "initialisation": name})
                for name, changes in _CHANGES.items()
            ],
            "Small CNNs, digits": [
                line("digits", CNN_IN_SMALL, changes, labels={"data": "digits", "initialisation": name})
                for name, changes in _CHANGES_CNN.items()
            ],
        }
    vgg = line(
        "cifar10", VGG, _CHANGES_CNN["clusterable"], apart=True,
        labels={"data": "cifar-10", "initialisation": "clusterable"}, printed={"table": "A.15"},
    )  # fmt: skip
    return {
        "Table A.13: dense networks": _pairs("mlp", "A.13", {"mnist": "A.5", "fashion-mnist": "A.6"}),
        "Table A.14: small CNNs": _pairs("small-cnn", "A.14", {"mnist": "A.8", "fashion-mnist": "A.9"}),
        "Table A.15: VGG-16": [vgg],
    }


def _pairs(network: str, table: str, ordinary_tables: dict[str, str]) -> list[Line]:
    """Return an ordinary and a clusterable line for each data set, each with the table that it is printed in."""
    settings, changes = (DENSE, _CHANGES) if network == "mlp" else (SMALL_CNN, _CHANGES_CNN)
    return [
        line(
            data, settings, changes[name], labels={"data": data, "initialisation": name},
            printed={"table": printed, "dataset": data, "regularisation": regularisation},
        )
        for data, ordinary in ordinary_tables.items()
        for name, printed, regularisation in (
            ("ordinary", ordinary, "none"),
            ("clusterable", table, "clusterable-init"),
        )
    ]  # fmt: skip


RECIPE = lines_recipe(
    "init",
    "Do networks stay clusterable when they start so?",
    "Figures 13 to 15, Tables A.13 to A.15",
    tables_at,
    note="Ten tags; weights between units of different tags are multiplied by β = .6 (convolutional networks: .8), "
    "those between units of the same tag are made larger. Kernels by the matrix 1-norm. "
    f"VGG-16 trains for {VGG['epochs']} and {VGG['pruning_epochs']} epochs (the paper: 200 and 50).",
)
