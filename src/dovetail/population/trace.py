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
import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx

from ..errors import DovetailError, TrainingError, memory_is_full
from .kernels import on_device

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

_SMALL_PRODUCT = 2**21
"""Multiplications of a product that is done twice for one member, where threads would split it."""


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as a recorded list of operations, one recording per set of input shapes."""
    recordings: dict[Any, Callable[..., Any]] = {}

    def run(*tensors: Any) -> Any:
        flat, _ = torch.utils._pytree.tree_flatten(tensors)
        shapes = tuple(t.shape if isinstance(t, Tensor) else t for t in flat)
        with ONE_AT_A_TIME:
            first = shapes not in recordings
            if first:
                recordings[shapes] = _record(function, tensors)
            # What cannot be replayed shows the first time.
            with torch.no_grad(), clear_errors() if first else nullcontext():
                return recordings[shapes](*tensors)

    return run


def _record(function: Callable[..., Any], tensors: tuple[Any, ...]) -> GraphModule:
    """Record on stand-ins without data: nothing is computed, and no input is changed."""
    with _quiet("torch._subclasses.fake_tensor"), clear_errors():
        recording = make_fx(lambda *args: function(*args), tracing_mode="fake", _allow_non_fake_inputs=True)(
            *tensors
        )
        _tidy(recording)
    return recording


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Keep a logger silent: it logs a traceback for what is reported as an error anyway."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


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


def _tidy(recording: GraphModule) -> None:
    """Drop what is not used, scatter into fresh zeros in place, and view tensors whatever their strides are."""
    recording.graph.eliminate_dead_code()
    aten = torch.ops.aten
    in_place = {aten.scatter_add.default: aten.scatter_add_.default, aten.scatter.src: aten.scatter_.src}
    for node in list(recording.graph.nodes):
        if node.target in in_place and _is_fresh(node.args[0]):
            node.target = in_place[node.target]
        elif node.target is aten.view.default:
            # Stand-ins may have other strides than what convolutions of one channel really give.
            node.target = aten.reshape.default
        elif _depends_on_company(node):
            _do_beside_a_copy(recording.graph, node)
    for node in recording.graph.nodes:
        node.meta.clear()  # stand-ins, which another thread would free later, while it or a third one records
    recording.recompile()


def _depends_on_company(node: Node) -> bool:
    """Whether an operation for one member on the CPU may round otherwise than for one of several."""
    aten = torch.ops.aten
    if node.target not in (aten.sum.dim_IntList, aten.mean.dim, aten.bmm.default):
        return False
    first = node.args[0].meta["val"] if isinstance(node.args[0], Node) else None
    if first is None or first.is_cuda or first.dim() < 2 or len(first) != 1:
        return False
    if node.target is aten.bmm.default:
        columns = node.args[1].meta["val"].shape[2]  # type: ignore[union-attr]
        return torch.get_num_threads() > 1 and first.numel() * columns <= _SMALL_PRODUCT
    return all(dim % first.dim() != 0 for dim in node.args[1])  # type: ignore[union-attr]


def _do_beside_a_copy(graph: Graph, node: Node) -> None:
    """Do an operation for the first member of a stack of two that are the same."""
    aten = torch.ops.aten
    with graph.inserting_before(node):
        inputs = [given for given in node.args if isinstance(given, Node)]
        doubled = {given: graph.call_function(aten.cat.default, ([given, given],)) for given in inputs}
    with graph.inserting_after(node):
        first = graph.call_function(aten.slice.Tensor, (node, 0, 0, 1))
    node.replace_all_uses_with(first, delete_user_cb=lambda user: user is not first)
    node.args = tuple(doubled[given] if isinstance(given, Node) else given for given in node.args)
    first.meta = dict(node.meta)


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
