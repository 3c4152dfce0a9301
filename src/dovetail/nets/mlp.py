"""Multilayer perceptron: dense hidden layers, dropout, and by default no output bias (MaxEnt paper)."""

from __future__ import annotations

import math
from typing import Any

from torch import nn

from ..spec import FLAG, Option, share
from .architecture import Architecture
from .layers import dense_end, sequential


def _build(sizes: tuple[int, ...], input_shape: tuple[int, ...], outputs: int, **options: Any) -> nn.Module:
    return sequential(
        [("flatten", nn.Flatten()), *dense_end(math.prod(input_shape), sizes, outputs, **options)]
    )


MLP = Architecture(
    "mlp",
    _build,
    (
        Option("dropout", 0.5, share(zero=True)),
        Option("batch_norm", False, FLAG),
        Option("output_bias", False, FLAG),
    ),
    sizes_mean="units of each hidden layer",
)
