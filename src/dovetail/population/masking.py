"""Masks in the form in which a training step applies them fastest.

On the CPU a mask is a pattern of bits as wide as the weights, all ones or all zeros: a bitwise *and* makes
exact zeros of whatever was there, NaN included, and costs one fast pass (`masked_fill_` takes thirteen times as
long, and multiplying leaves NaN and -0). On CUDA it is one byte per weight, read by the optimizer's kernel.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from .stack import Tensors

_BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def patterns_of(masks: Mapping[str, Tensor], params: Mapping[str, Tensor]) -> Tensors:
    """Return masks (bool, stacked) as patterns for these parameters."""
    return {name: _pattern(mask, params[name]) for name, mask in masks.items()}


def _pattern(mask: Tensor, param: Tensor) -> Tensor:
    mask = mask.to(param.device, torch.bool)
    return mask if param.is_cuda else mask.to(_BITS[param.element_size()]).neg_()


def clear_(param: Tensor, pattern: Tensor) -> None:
    """Set a parameter to 0 wherever its pattern says so."""
    if param.is_cuda:
        param.masked_fill_(pattern.logical_not(), 0)
    else:
        param.view(pattern.dtype).bitwise_and_(pattern)
