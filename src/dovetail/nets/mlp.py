"""Multilayer perceptron: dense hidden layers, dropout, and by default no output bias (MaxEnt paper)."""

from __future__ import annotations

import math

from torch import nn

from .architecture import Architecture
from .options import flag, rate
from .parts import Parts, dense, sequential


def _build(
    sizes: tuple[int, ...],
    input_shape: tuple[int, ...],
    outputs: int,
    *,
    dropout: float,
    batch_norm: bool,
    output_bias: bool,
) -> nn.Module:
    width = math.prod(input_shape)
    parts: Parts = [("flatten", nn.Flatten())]
    for number, units in enumerate(sizes, start=1):
        parts += dense(f"dense{number}", width, units, batch_norm=batch_norm, dropout=dropout)
        width = units
    parts.append(("output", nn.Linear(width, outputs, bias=output_bias)))
    return sequential(parts)


MLP = Architecture(
    "mlp",
    _build,
    (rate("dropout", 0.5), flag("batch_norm", False), flag("output_bias", False)),
    sizes_mean="units of each hidden layer",
)
