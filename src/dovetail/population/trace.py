"""Functions that run many times on tensors of the same shapes: trace once, then only replay.

`traced` removes the cost of `vmap`, autograd bookkeeping and Python from every call: it records the tensor
operations once and runs the list. `Captured` goes further on CUDA: the whole step becomes one graph launch.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx

from ..errors import DovetailError, TrainingError, memory_is_full
from .kernels import on_device

OWN_NOISE = (
    "the network draws random numbers of its own, which would depend on who trains beside it; use dropout "
    "modules, torch.rand_like or randn_like in training mode only, or the augment option"
)


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as a recorded list of operations, one recording per set of input shapes."""
    recordings: dict[Any, Callable[..., Any]] = {}

    def run(*tensors: Any) -> Any:
        flat, _ = torch.utils._pytree.tree_flatten(tensors)
        shapes = tuple(t.shape if isinstance(t, Tensor) else t for t in flat)
        if shapes not in recordings:
            recordings[shapes] = _record(function, tensors)
            with torch.no_grad(), clear_errors():  # what cannot be replayed shows the first time
                return recordings[shapes](*tensors)
        with torch.no_grad():
            return recordings[shapes](*tensors)

    return run


def _record(function: Callable[..., Any], tensors: tuple[Any, ...]) -> GraphModule:
    """Record on stand-ins without data: nothing is computed, and no input is changed."""
    with clear_errors():
        recording = make_fx(lambda *args: function(*args), tracing_mode="fake", _allow_non_fake_inputs=True)(
            *tensors
        )
    _tidy(recording)
    return recording


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn what torch says of a network that cannot be mapped over members into one clear error."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    level = logger.level
    logger.setLevel(logging.CRITICAL)  # it logs a traceback for what is reported here anyway
    try:
        yield
    except DovetailError:
        raise
    except Exception as error:
        if memory_is_full(error):
            raise
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if "randomness error mode" in reason:
            raise TrainingError(OWN_NOISE) from error
        raise TrainingError(
            f"the network, objective or a metric cannot be mapped over members ({reason}); they must be made of "
            "operations that torch.func.vmap can follow, without decisions that depend on values"
        ) from error
    finally:
        logger.setLevel(level)


def _tidy(recording: GraphModule) -> None:
    """Drop what is not used, scatter into fresh zeros in place, and view tensors whatever their strides are."""
    recording.graph.eliminate_dead_code()
    aten = torch.ops.aten
    in_place = {aten.scatter_add.default: aten.scatter_add_.default, aten.scatter.src: aten.scatter_.src}
    for node in recording.graph.nodes:
        if node.target in in_place and _is_fresh(node.args[0]):
            node.target = in_place[node.target]
        elif node.target is aten.view.default:
            # Stand-ins may have other strides than what convolutions of one channel really give.
            node.target = aten.reshape.default
    recording.recompile()


def _is_fresh(node: Node) -> bool:
    """Whether a node is zeros, or a view of zeros, that nothing else uses."""
    aten = torch.ops.aten
    while len(node.users) == 1 and node.target in (aten.view.default, aten.reshape.default):
        source = node.args[0]
        assert isinstance(source, Node)
        node = source
    return len(node.users) == 1 and node.target in (aten.new_zeros.default, aten.zeros.default)


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
                with _no_collection(), torch.cuda.graph(self._graph, pool=self._pool):
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
