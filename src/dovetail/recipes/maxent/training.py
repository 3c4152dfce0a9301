"""How specialists are trained: the paper's settings for each data set and model, and small ones like them."""

from __future__ import annotations

from typing import Any

from ..recipe import Scale

Options = dict[str, Any]

_COMMON: Options = {
    "temperature": 5.0, "rounds": 2, "epochs": 20, "lr": 1e-3, "batch_size": 64, "patience": 3, "monitor": "loss",
    "scope": "tensor", "output_share": 0.5,
}  # fmt: skip
_MLP: Options = {**_COMMON, "sparsity": 0.99}
_CNN: Options = {**_COMMON, "sparsity": 0.6, "epochs": 15}
_HAR: Options = {**_MLP, "epochs": 25, "lr": 1e-4}
_YEAST: Options = {**_MLP, "epochs": 25}
_SMALL: Options = {**_MLP, "sparsity": 0.9, "epochs": 12, "lr": 1e-2, "batch_size": 128}

_IMAGES: dict[str, Options] = {
    "shallow": {**_MLP, "net": "mlp:512"},
    "deep": {**_MLP, "net": "mlp:512-256"},
    "cnn": {**_CNN, "net": "lenet"},
}
TRAINING: dict[str, dict[str, Options]] = {
    "mnist": _IMAGES,
    "fashion-mnist": _IMAGES,
    "har": {
        "shallow": {**_HAR, "net": "mlp:512,dropout=0"},
        "deep": {**_HAR, "net": "mlp:512-256,dropout=0"},
    },
    "yeast": {
        "shallow": {**_YEAST, "net": "mlp:256,dropout=0.2"},
        "deep": {**_YEAST, "net": "mlp:128-64,dropout=0.2"},
    },
    "digits": {
        "cnn": {**_SMALL, "net": "lenet:8-16-8", "sparsity": 0.6},
        "shallow": {**_SMALL, "net": "mlp:64,dropout=0"},
        "deep": {**_SMALL, "net": "mlp:64-32,dropout=0"},
    },
}
"""By data and model. Dropout is that of the architecture where none is named: .5 for ``mlp``, 0 for ``lenet``."""

SEEDS: dict[Scale, tuple[int, ...]] = {"paper": (0, 1, 2, 3, 4), "smoke": (0, 1)}

CASES: dict[Scale, tuple[tuple[str, str], ...]] = {
    "paper": tuple(
        (data, model)
        for model in ("shallow", "deep", "cnn")
        for data in ("mnist", "fashion-mnist", "har", "yeast")
        if model in TRAINING[data]
    ),
    "smoke": (("digits", "shallow"), ("digits", "deep")),
}
"""Data and model of each case, cheapest models first."""
