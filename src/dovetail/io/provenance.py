"""Provenance, how numbers were made: with which versions, on what, when, and how long it took."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .._version import __version__

if TYPE_CHECKING:
    import torch


def provenance(begun: float, device: torch.device | None = None) -> dict[str, object]:
    """Return what to write down beside numbers that were just made.

    Parameters
    ----------
    begun : float
        When that began, by ``time.perf_counter()``.
    device : torch.device, optional
        Where networks ran, if not on the CPU alone.

    Examples
    --------
    >>> list(provenance(time.perf_counter()))
    ['dovetail', 'torch', 'python', 'hardware', 'seconds', 'when']
    """
    return {
        **versions(),
        "hardware": hardware(device),
        "seconds": round(time.perf_counter() - begun, 2),
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def versions() -> dict[str, str]:
    """Return the versions that numbers depend on."""
    import torch

    return {"dovetail": __version__, "torch": str(torch.__version__), "python": platform.python_version()}


@cache
def commit() -> str:
    """Return the commit of this code, with ``+changes`` if it was changed since; the version if it is no git checkout.

    Git is asked once a process, and its answer says nothing about where the checkout is.

    Examples
    --------
    >>> commit() == commit() != ""
    True
    """
    home = Path(__file__).parents[1]
    try:
        # A package that is merely installed inside another project's checkout is no part of that.
        _git(home, "ls-files", "--error-unmatch", "_version.py")
        return _git(home, "rev-parse", "HEAD") + "+changes" * bool(_git(home, "status", "--porcelain", "."))
    except (OSError, subprocess.SubprocessError):
        return __version__


def _git(folder: Path, *command: str) -> str:
    asked = ["git", "-C", str(folder), *command]
    return subprocess.run(asked, capture_output=True, check=True, text=True, timeout=10).stdout.strip()


def hardware(device: torch.device | None = None) -> str:
    """Return the name of the processor and how many cores there are, and that of a GPU that was used."""
    import torch

    text = f"{_processor()}, {os.cpu_count() or 1} cores"
    if device is not None and device.type == "cuda":
        text += f"; {torch.cuda.get_device_name(device)}"
    return text


def _processor() -> str:
    # Where Python knows no name, or only that of the architecture, Linux has one.
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine() or "unknown processor"
