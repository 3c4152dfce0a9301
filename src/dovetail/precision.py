"""Precision: networks are of 32-bit numbers, whatever type PyTorch makes tensors of where nobody says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import torch

_lock = Lock()
_inside: list[torch.dtype] = []
"""What there was before, once for each that is inside: the type is one of the process, whatever thread sets it."""


@contextmanager
def in_float32() -> Iterator[None]:
    """Make tensors of 32-bit floats where nobody says otherwise; as a decorator, during a function.

    A program may have set another type, with `torch.set_default_dtype`; it is there again when the last of all threads
    has left.

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
    with _lock:
        _inside.append(_inside[0] if _inside else torch.get_default_dtype())
        torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        with _lock:
            before = _inside.pop()
            if not _inside:
                torch.set_default_dtype(before)
