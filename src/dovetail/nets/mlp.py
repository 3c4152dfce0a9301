"""Multilayer perceptron: dense hidden layers, dropout, and by default no output bias (MaxEnt paper)."""

from __future__ import annotations

import math

from torch import nn

from ..spec import FLAG, Option, share
from .architecture import Architecture
from .layers import dense_end, sequential


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
    (
        Option("dropout", 0.5, share(zero=True)),
        Option("batch_norm", False, FLAG),
        Option("output_bias", False, FLAG),
    ),
    sizes_mean="units of each hidden layer",
)
