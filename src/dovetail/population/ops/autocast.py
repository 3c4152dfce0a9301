"""Autocast for operations that are worded anew: they take the types that torch's own would take."""

from __future__ import annotations

import torch
from torch import Tensor


def is_autocast(x: Tensor) -> bool:
    """Whether operations on this tensor are under `torch.autocast`."""
    return torch.is_autocast_enabled(x.device.type)


def autocast(x: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return a layer's input and parameters in autocast's type, where it is on.

    All are turned beforehand: a gradient that is worded out would otherwise meet tensors of two types, since it is
    computed where autocast is off.

    Examples
    --------
    >>> x, weight = torch.ones(1, 2), torch.ones(3, 2)
    >>> with torch.autocast("cpu", torch.bfloat16):
    ...     [None if tensor is None else tensor.dtype for tensor in autocast(x, weight, None)]
    [torch.bfloat16, torch.bfloat16, None]
    """
    if not is_autocast(x) or x.dtype == torch.float64:  # which torch leaves as it is, too
        return x, weight, bias
    dtype = torch.get_autocast_dtype(x.device.type)
    return x.to(dtype), weight.to(dtype), None if bias is None else bias.to(dtype)
