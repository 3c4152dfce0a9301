"""Whether kernels of our own can run."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec


@cache
def has_triton() -> bool:
    """Whether Triton is there: some builds of torch for CUDA come without it."""
    return find_spec("triton") is not None
