"""What this machine has to work with."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from ..errors import SpecError

_WORKER_BYTES = 2**30
"""What a worker takes on the CPU, measured: 1.0 GB with 60,000 images of 28 × 28 and networks in training."""
_CGROUP = Path("/sys/fs/cgroup")
"""Where Linux (cgroup v2) tells a container what it may have."""


def places(jobs: int | None = None, device: str | None = None) -> list[str]:
    """Return the device of each worker.

    Parameters
    ----------
    jobs : int, optional
        Workers on each GPU, or on the CPU. Default: one on each GPU; without a GPU one on each core that this process
        may use, but no more than free memory has room for.
    device : str, optional
        Where workers are: ``"cpu"``, ``"cuda"`` (all GPUs) or ``"cuda:1"``. Default: all GPUs, or else the CPU.

    Examples
    --------
    >>> places(2, "cpu")
    ['cpu', 'cpu']
    """
    import torch

    if jobs is not None and jobs < 1:
        raise SpecError(f"jobs is {jobs}; at least 1 is needed")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    try:
        asked = torch.device(("cuda" if count else "cpu") if device is None else device)
    except RuntimeError as error:
        raise SpecError(f"unknown device {device!r}; use 'cpu', 'cuda' or 'cuda:0'") from error
    if asked.type == "cpu":
        return ["cpu"] * (jobs or min(cores(), max(1, free_memory() // _WORKER_BYTES)))
    if asked.type != "cuda" or (asked.index or 0) >= count:
        raise SpecError(f"this machine has no device {device!r}; it has cpu and {count} CUDA devices")
    gpus = [asked.index] if asked.index is not None else range(count)
    return [f"cuda:{gpu}" for gpu in gpus for _ in range(jobs or 1)]


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def free_memory() -> int:
    """Return the bytes of main memory that programs can still have: what is free, or could be at once."""
    found = [sys.maxsize]  # where the system does not tell
    with suppress(AttributeError, OSError, ValueError):  # Windows has no sysconf
        found += [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with suppress(OSError, ValueError):  # Linux alone says what it would give up for programs
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    with suppress(OSError, ValueError):  # what a container may have; "max" is no limit
        limit = int((_CGROUP / "memory.max").read_text("ascii"))
        found += [limit]  # at most, where the other files are missing
        taken = int((_CGROUP / "memory.current").read_text("ascii"))
        lines = (_CGROUP / "memory.stat").read_text("ascii").splitlines()
        cached = sum(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))
        found += [max(0, limit - taken + cached)]  # cached files make room for programs
    return min(found)
