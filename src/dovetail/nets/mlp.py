"""Multilayer perceptron: dense hidden layers, dropout, and by default no output bias (MaxEnt paper)."""

from __future__ import annotations

import math

from torch import nn

from .architecture import Architecture
from .options import flag, rate
from .parts import dense_end, sequential


def _build(
    sizes: tuple[int, ...],
    input_shape: tuple[int, ...],
    outputs: int,
    *,
    dropout: float,
    batch_norm: bool,
    output_bias: bool,
) -> nn.Module:
    end = dense_end(
        math.prod(input_shape),
        sizes,
        outputs,
        output_bias=output_bias,
        batch_norm=batch_norm,
        dropout=dropout,
    )
    return sequential([("flatten", nn.Flatten()), *end])


MLP = Architecture(
    "mlp",
    _build,
    (rate("dropout", 0.5), flag("batch_norm", False), flag("output_bias", False)),
    sizes_mean="units of each hidden layer",
)
