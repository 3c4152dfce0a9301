"""Precision: networks are of 32-bit numbers, whatever type PyTorch makes tensors of where nobody says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def in_float32() -> Iterator[None]:
    """Make tensors of 32-bit floats where nobody says otherwise; as a decorator, during a function.

    A program may have set another type, with `torch.set_default_dtype`; it is there again afterwards.

    Examples
    --------
    >>> torch.set_default_dtype(torch.float64)
    >>> with in_float32():
    ...     torch.zeros(1).dtype
    torch.float32
    >>> torch.zeros(1).dtype
    torch.float64
    >>> torch.set_default_dtype(torch.float32)
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
