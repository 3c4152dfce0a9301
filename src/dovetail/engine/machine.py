"""What this machine has to work with."""

from __future__ import annotations

import os

from ..errors import SpecError


def places(jobs: int | None = None, device: str | None = None) -> list[str]:
    """Return the device of each worker.

    Parameters
    ----------
    jobs : int, optional
        Workers on each GPU, or on the CPU. Default: one on each GPU; without a GPU one on each core that this process
        may use.
    device : str, optional
        Work there only: ``"cpu"``, ``"cuda"`` (all GPUs) or ``"cuda:1"``.

    Examples
    --------
    >>> places(2, "cpu")
    ['cpu', 'cpu']
    """
    import torch

    if jobs is not None and jobs < 1:
        raise SpecError(f"jobs is {jobs}; at least 1 is needed")
    try:
        asked = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    except RuntimeError as error:
        raise SpecError(f"unknown device {device!r}; use 'cpu', 'cuda' or 'cuda:0'") from error
    if asked.type == "cpu":
        return ["cpu"] * (jobs or cores())
    count = torch.cuda.device_count() if asked.type == "cuda" else 0
    if asked.type != "cuda" or count == 0 or (asked.index or 0) >= count:
        raise SpecError(f"this machine has no device {device!r}; it has cpu and {count} CUDA devices")
    gpus = [asked.index] if asked.index is not None else range(count)
    return [f"cuda:{gpu}" for gpu in gpus for _ in range(jobs or 1)]


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
