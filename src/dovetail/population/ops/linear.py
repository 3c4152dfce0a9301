"""A linear layer whose gradients are laid out in memory like the input and the weight."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .autocast import autocast


class _Product(torch.autograd.Function):
    """``x Wᵀ`` for a batch ``[batch, in]`` and a weight ``[out, in]``."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, weight: Tensor) -> Tensor:
        return x @ weight.mT

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        needs_x, needs_weight = ctx.needs_input_grad
        return gradient @ weight if needs_x else None, gradient.mT @ x if needs_weight else None


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Linear layer whose gradients are laid out like the input and the weight."""
    x, weight, bias = autocast(x, weight, bias)
    rows = x.flatten(0, -2) if x.dim() > 2 else torch.atleast_2d(x)
    product: Tensor = _Product.apply(rows, weight)  # type: ignore[no-untyped-call]
    y = product.view(*x.shape[:-1], len(weight))
    return y if bias is None else y + bias
