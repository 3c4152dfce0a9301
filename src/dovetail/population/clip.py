"""Clipping: each member's own gradient shortened to a greatest length."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

_EPSILON = 1e-6
"""Added to a length before dividing by it, as torch does."""


def clip_gradients(
    gradients: Mapping[str, Tensor], most: float, patterns: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return stacked gradients in which no member's is longer than ``most``, over all of its parameters together.

    A masked weight is not there: its gradient is 0 and adds nothing to the length. So a member whose masks leave a
    narrow network learns what that network would.

    Parameters
    ----------
    gradients : mapping of str to Tensor
        ``[members, ...]`` by parameter.
    most : float
        The greatest length (the root of the sum of squares).
    patterns : mapping of str to Tensor
        Where parameters are masked: 0 there (`optim.mask_patterns`).

    Examples
    --------
    >>> gradients = {"weight": torch.tensor([[3.0, 4.0], [0.3, 0.4]])}
    >>> clip_gradients(gradients, 1.0, {})["weight"]
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """
    # New tensors throughout: parameters that are only used in a sum have one gradient in common.
    own = {
        name: torch.where(patterns[name] != 0, gradient, 0) if name in patterns else gradient
        for name, gradient in gradients.items()
    }
    squares = torch.stack([gradient.square().flatten(1).sum(1) for gradient in own.values()])
    factors = (most / (squares.sum(0).sqrt() + _EPSILON)).clamp(max=1)
    return {name: each * factors.view(-1, *[1] * (each.dim() - 1)) for name, each in own.items()}
