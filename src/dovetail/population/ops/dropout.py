"""Dropout and noise that belong to the member: the same alone and in any company."""

from __future__ import annotations

import torch
from torch import Tensor

from ..random import Noise

_SELU_LIMIT = -1.7580993408473766
"""What SELU tends to for very negative inputs."""


def dropout(noise: Noise, x: Tensor, p: float, features: int = 0) -> Tensor:
    """Drop single values, or (``features`` = spatial dimensions) whole feature maps; scale up what is kept."""
    if p == 0:
        return x
    if p == 1:
        return x * 0
    shape = list(x.shape)
    if features:
        shape[-features:] = [1] * features
    # The factor in the numbers' own type: a mask times a number would be float32 whatever they are.
    return x * (noise.keep(shape, p).to(x.dtype) * (1 / (1 - p)))


def alpha_dropout(noise: Noise, x: Tensor, p: float) -> Tensor:
    """Drop to SELU's lower limit, scaled so that mean and variance stay."""
    if p == 0:
        return x
    kept = 1 - p
    scale = (kept + _SELU_LIMIT**2 * kept * p) ** -0.5 if kept else 0.0
    dropped = torch.where(noise.keep(x.shape, p), x, _SELU_LIMIT)
    return scale * dropped - scale * _SELU_LIMIT * p
