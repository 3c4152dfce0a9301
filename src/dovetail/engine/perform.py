"""A unit done here, in such a way that it gives the same wherever it is done; and what became of it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from ..errors import DovetailError, memory_is_full
from ..population.kernels import on_device
from ..recipes import Unit, find_work
from ..recipes.unit import Row, canonical
from ..threads import one_blas_thread


@dataclass(frozen=True)
class Outcome:
    """A unit that was done, or could not be.

    Attributes
    ----------
    unit : Unit
        What was to be done.
    row : dict, optional
        What came out, if it was done.
    seconds : float
        How long it took.
    device : str
        What it ran on.
    error : str
        Why it could not be done.
    trace : str
        The traceback of an error that nobody foresaw.
    """

    unit: Unit
    row: Row | None = None
    seconds: float = 0.0
    device: str = ""
    error: str = ""
    trace: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the outcome without its unit, as values that JSON can hold."""
        return {name: value for name, value in vars(self).items() if name != "unit"}


def perform(unit: Unit, device: str) -> Outcome:
    """Do a unit on a device; say what came out, or why nothing did.

    A unit uses one CPU core. So as many run side by side as there are cores, and sums come out the same on a machine
    with two cores and on one with sixty: how a sum is shared out between threads decides its last bits.
    """
    place = torch.device(device)
    begun = time.perf_counter()
    try:
        with _settled(place):
            row = find_work(unit.work).run(unit.settings, place)
        canonical(row)  # what is not JSON would be lost
    except DovetailError as error:
        return Outcome(unit, error=str(error))
    except Exception as error:
        if memory_is_full(error):
            reason = (str(error).splitlines() or ["it is full"])[0]
            return Outcome(unit, error=f"{device} has too little memory: {reason}")
        return Outcome(
            unit, error=f"internal error: {type(error).__name__}: {error}", trace=traceback.format_exc()
        )
    return Outcome(unit, row, round(time.perf_counter() - begun, 3), device_name(place))


def trains_networks(unit: Unit) -> bool:
    """Return whether a unit trains networks; what does not has no use for a GPU."""
    return bool(find_work(unit.work).workload(unit.settings).net)


def device_name(device: torch.device) -> str:
    """Return what a device is called, such as ``"NVIDIA H200"``; ``"cpu"`` for a CPU."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


@contextmanager
def _settled(device: torch.device) -> Iterator[None]:
    """Set threads, precision and GPU for a unit, and put them back."""
    threads, precision = torch.get_num_threads(), torch.get_float32_matmul_precision()
    torch.set_num_threads(1)
    if device.type == "cuda":
        # Products of float32 matrices in TF32: a relative error of 3e-4, far below the spread between seeds, and
        # a step of the paper's networks takes 20 % less (docs/performance.md).
        torch.set_float32_matmul_precision("high")
    try:
        with on_device(device), one_blas_thread():
            yield
    finally:
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision(precision)
