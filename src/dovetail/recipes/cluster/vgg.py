"""VGG-16 on CIFAR-10."""

from __future__ import annotations

from ..recipe import Scale
from .cnn import NORMS
from .conditions import CNN_IN_SMALL, REGULARISATION, VGG, line
from .tables import Tables, lines_recipe

CONDITIONS = {**REGULARISATION, "dropout+l2": {**REGULARISATION["dropout"], **REGULARISATION["l2"]}}


def tables_at(scale: Scale) -> Tables:
    """Return five conditions, every network a unit of its own; in small two, of the smaller network."""
    if scale == "smoke":
        return {
            "Small CNNs, digits turned, shifted and mirrored": [
                line(
                    "digits", {**CNN_IN_SMALL, "augment": True}, CONDITIONS[name],
                    labels={"data": "digits", "condition": name}, apart=True,
                )
                for name in ("none", "l2")
            ]
        }  # fmt: skip
    return {
        "Table A.10: VGG-16, cifar-10": [
            line(
                "cifar10", VGG, changes, labels={"data": "cifar-10", "condition": name},
                printed={"table": "A.10", "dataset": "cifar-10", "regularisation": name}, apart=True,
            )
            for name, changes in CONDITIONS.items()
        ]
    }  # fmt: skip


RECIPE = lines_recipe(
    "vgg",
    "Are VGG-16 networks more clusterable than chance would have it?",
    "Figures 8 and 9, Table A.10",
    tables_at,
    measures=NORMS,
    note="With `--scale paper`: images turned, shifted and mirrored at random; "
    f"{VGG['epochs']} epochs (the paper: 200), then {VGG['pruning_epochs']} with pruning to 90 % (the paper: 50); "
    "five networks a condition.",
)
