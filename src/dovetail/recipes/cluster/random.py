"""Dense networks on random images, to tell whether clusterability comes from training as such or from learning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..recipe import Scale
from .conditions import DENSE, DENSE_IN_SMALL, REGULARISATION, line
from .tables import Tables, lines_recipe

# The sets come with more images for validation, which train too: ``samples`` leaves as many as the paper had.
_EXPERIMENTS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "unlearnable": ("A.16", "random", {"samples": 60_000}),
    "kilo-epoch": ("A.17", "random", {"samples": 60_000, "epochs": 1000}),
    "memorisation": ("A.18", "random:samples=3000", {"samples": 3000, "epochs": 100, "pruning_epochs": 100}),
}
_IN_SMALL: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "unlearnable": ("random:samples=1000", {"samples": 1000, "epochs": 3, "pruning_epochs": 3}),
    "kilo-epoch": ("random:samples=1000", {"samples": 1000, "epochs": 6, "pruning_epochs": 3}),
    "memorisation": ("random:samples=300", {"samples": 300, "epochs": 40, "pruning_epochs": 20}),
}


def tables_at(scale: Scale) -> Tables:
    """Return three experiments, each without dropout and with it; in small only without."""
    if scale == "smoke":
        return {
            "Random images": [
                line(
                    data,
                    DENSE_IN_SMALL,
                    {"seeds": range(2), **changes},
                    labels={"experiment": name, "condition": "none"},
                )
                for name, (data, changes) in _IN_SMALL.items()
            ]
        }
    return {
        f"Table {table}: random images, {name}": [
            line(
                data, DENSE, {"seeds": range(10), **changes, **REGULARISATION[condition]},
                labels={"experiment": name, "condition": condition},
                printed={"table": table, "regularisation": condition},
            )
            for condition in ("none", "dropout")
        ]
        for name, (table, data, changes) in _EXPERIMENTS.items()
    }  # fmt: skip


RECIPE = lines_recipe(
    "random",
    "Does clusterability come from training as such, or from learning?",
    "Tables A.16 to A.18",
    tables_at,
    note="Random pixels with random labels; ten networks a condition. *Unlearnable*: 60,000 images, 20 epochs, then "
    "20 with pruning. *Kilo-epoch*: 1,000 epochs in place of the first 20; the paper says that pruning was left out, "
    "but prints n-cuts of pruned networks, so ours are pruned for 20 epochs more. *Memorisation*: 3,000 images, 100 "
    "epochs, then 100 with pruning; the paper showed them in the same order every epoch, ours are shuffled. None of "
    "these published values is in the authors' result files. Test accuracies, on other random images, are chance.",
)
