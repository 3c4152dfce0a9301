"""What kernels of our own need: Triton, and the right GPU."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib.util import find_spec

import torch


@cache
def has_triton() -> bool:
    """Whether Triton is there: some builds of torch for CUDA come without it."""
    return find_spec("triton") is not None


def on_device(device: torch.device) -> AbstractContextManager[object]:
    """Make a GPU the current one for a while: Triton and graphs do not look where tensors are. Nothing on a CPU."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()
