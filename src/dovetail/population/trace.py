"""Traces of functions that run many times on tensors of the same shapes: recorded once, then only replayed.

`traced` removes the cost of `vmap`, autograd bookkeeping and Python from every call: it records the tensor
operations once and runs the list. `Captured` goes further on CUDA: the whole step becomes one graph launch.

On the CPU a stack of one computes what each member of a larger stack does, to the last bit. Two kinds of operation
would not: sums, which torch adds up in another order when the members' dimension is 1, and small products, which the
library then splits over threads. A recording for one member does these with the member beside a copy of itself, at no
cost that shows: they are small, and larger products are as they are.
"""

from __future__ import annotations

import gc
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from ..errors import DovetailError, TrainingError, memory_is_full
from .kernels import on_device
from .recording import record

OWN_NOISE = (
    "the network draws random numbers of its own, which would depend on who trains beside it; use dropout "
    "modules, torch.rand_like or randn_like in training mode only, or the augment option"
)

ONE_AT_A_TIME = threading.RLock()
"""Held while members are mapped, recorded or replayed.

While torch records, it changes how all modules are called, for all threads.
"""

_CAPTURING = threading.Lock()
"""Held while a step is captured: one at a time, as Python's collector is off meanwhile for all threads."""


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as a recorded list of operations, one recording per set of input shapes."""
    recordings: dict[Any, Callable[..., Any]] = {}

    def run(*tensors: Any) -> Any:
        flat = tree_leaves(tensors)
        shapes = tuple(t.shape if isinstance(t, Tensor) else t for t in flat)
        given = [t for t in flat if isinstance(t, Tensor)]
        with ONE_AT_A_TIME:
            recording = recordings.get(shapes)
            if recording is not None:
                with torch.no_grad():
                    return recording(*given)
            with clear_errors():
                recording = recordings[shapes] = record(function, tensors)
                with torch.no_grad():  # what cannot be replayed shows the first time
                    return recording(*given)

    return run


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn what torch says of a network that cannot be mapped over members into one clear error.

    Mistakes in the user's own code, such as a name that is not defined, are left as they are.
    """
    try:
        yield
    except DovetailError:
        raise
    except Exception as error:
        if memory_is_full(error) or not _from_torch(error):
            raise
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if "randomness error mode" in reason:
            raise TrainingError(OWN_NOISE) from error
        raise TrainingError(
            f"the network, objective or a metric cannot be mapped over members ({reason}); they must be made of "
            "operations that torch.func.vmap can follow, without decisions that depend on values"
        ) from error


def _from_torch(error: Exception) -> bool:
    """Whether torch found something it cannot do, rather than Python a mistake in somebody's code."""
    if isinstance(error, RuntimeError):
        return True
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and Path(torch.__file__).parent in Path(frames[-1].filename).parents


class Captured:
    """A step without arguments or result, captured as a CUDA graph on its second call.

    The first call runs as it is, which also makes the libraries load their kernels; it is a real step, not a
    rehearsal. On the CPU every call runs as it is. The step must read and write the same tensors every time.
    Graphs that never run at the same time may share a memory pool.
    """

    def __init__(self, step: Callable[[], None], device: torch.device, pool: Any = None) -> None:
        self._step, self._device, self._pool = step, device, pool
        self._warm = False
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        """Take the step."""
        with on_device(self._device):
            self._take()

    def _take(self) -> None:
        if self._device.type != "cuda":
            self._step()
        elif not self._warm:
            # Capturing needs a stream other than the default one; what ran there before must not be freed late.
            stream = torch.cuda.Stream(self._device)
            stream.wait_stream(torch.cuda.current_stream(self._device))
            with torch.cuda.stream(stream):
                self._step()
            torch.cuda.current_stream(self._device).wait_stream(stream)
            self._warm = True
        else:
            if self._graph is None:
                self._graph = torch.cuda.CUDAGraph()
                # What other threads do on the GPU meanwhile is none of this capture's business.
                capture = torch.cuda.graph(self._graph, pool=self._pool, capture_error_mode="thread_local")
                with _CAPTURING, _no_collection(), capture:
                    self._step()
            self._graph.replay()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep Python from collecting garbage: a graph that is freed while another is captured spoils the capture."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
