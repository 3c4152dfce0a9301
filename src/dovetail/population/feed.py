"""A feed: where the inputs of training steps come from.

`HeldFeed` has all inputs at hand, on the device or in the memory of a CPU (mapped files too): a step gathers its own by
their numbers. `StreamedFeed` is for inputs that do not fit there: a thread gathers the batches of the next steps and
brings them to the device, while the present step is computed. Both give the same numbers, in the type in which inputs
are stored; a step turns its own into the type of the weights, so that nobody ever holds a second copy of all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from .order import Batches, Order
from .stack import rows_of

FeedName = Literal["held", "streamed"]

_AHEAD = 8
"""Steps whose inputs a thread may gather ahead."""

_AHEAD_BYTES = 64 * 2**20
"""Bytes that these should not exceed; two steps may, so that one can be gathered while the other is computed."""


class Feed(Protocol):
    """Gives steps their inputs."""

    def steps(self, batches: Batches) -> Iterable[int]:
        """Yield the number of each step as soon as its inputs are in place."""

    def inputs(self, index: Tensor, step: Tensor) -> Tensor:
        """Return a step's inputs: ``[batch, ...]`` if all members share them, else ``[members, batch, ...]``.

        Called inside of a step, which may be captured: ``index`` has the samples' numbers, ``step`` is its number as a
        tensor ``[1]``.
        """

    def close(self) -> None:
        """Stop what runs ahead."""


def feed_of(x: Tensor, order: Order, device: torch.device, *, streamed: bool) -> Feed:
    """Return the feed for these inputs: held where they are, or streamed to the device."""
    return StreamedFeed(x, order, device) if streamed else HeldFeed(x)


class HeldFeed:
    """Inputs at hand; steps gather their own.

    Examples
    --------
    >>> HeldFeed(torch.tensor([[5.0], [6.0], [7.0]])).inputs(torch.tensor([2, 0]), torch.zeros(1)).flatten()
    tensor([7., 5.])
    """

    def __init__(self, x: Tensor) -> None:
        self._x = x

    def steps(self, batches: Batches) -> Iterable[int]:
        """Yield the numbers of the steps: their inputs are always in place."""
        return range(batches.steps)

    def inputs(self, index: Tensor, step: Tensor) -> Tensor:
        """Return the inputs of the samples with these numbers."""
        return rows_of(self._x, index).contiguous()

    def close(self) -> None:
        """Do nothing: nothing runs ahead."""


class StreamedFeed:
    """Inputs in main memory or in a mapped file, brought to the device some steps ahead by a thread.

    Parameters
    ----------
    x : Tensor
        All inputs, on the CPU.
    order : Order
        Who sees which batch; members who share an order share what is brought.
    device : torch.device
        Where the steps are computed.
    """

    def __init__(self, x: Tensor, order: Order, device: torch.device) -> None:
        self._x, self._order, self._device = x, order, device
        self._rings: dict[int, _Ring] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="dovetail-feed")

    def steps(self, batches: Batches) -> Iterator[int]:
        """Yield the number of each step as soon as its inputs are in place; gather those of the next meanwhile."""
        _, orders, samples = batches.index.shape
        if samples not in self._rings:
            self._rings[samples] = _Ring(self._x, orders * samples, self._device)
        ring = self._rings[samples]
        index = batches.index.flatten(1).cpu()
        first = range(min(ring.slots, batches.steps))
        ahead = deque(self._thread.submit(ring.fill, step, index[step]) for step in first)
        for step in range(batches.steps):
            ahead.popleft().result()
            ring.await_copy(step)
            yield step
            ring.release(step)
            later = step + ring.slots
            if later < batches.steps:
                ahead.append(self._thread.submit(ring.fill, later, index[later]))

    def inputs(self, index: Tensor, step: Tensor) -> Tensor:
        """Return the inputs that were brought for this step."""
        samples = index.shape[-1]
        return self._order.for_members(self._rings[samples].at(step).unflatten(0, (-1, samples)))

    def close(self) -> None:
        """Stop the thread, and wait for what it still brings."""
        self._thread.shutdown(cancel_futures=True)
        for ring in self._rings.values():
            ring.close()
        self._rings.clear()


class _Ring:
    """Fixed places for the inputs of a few steps: filled ahead, read by their step, filled again.

    On CUDA each place is there twice: pinned in main memory, where the thread gathers, and on the device, where a
    stream of its own copies it to. Two events a place keep them in step: *copied*, so that the step may read it and
    the pinned one be filled again, and *read*, so that the next copy may come.
    """

    def __init__(self, x: Tensor, samples: int, device: torch.device) -> None:
        step_bytes = samples * x[0].numel() * x.element_size()
        self.slots = max(2, min(_AHEAD, _AHEAD_BYTES // max(1, step_bytes)))
        self._x, self._device = x, device
        self._on_gpu = device.type == "cuda"
        shape = (self.slots, samples, *x.shape[1:])
        self._gathered = torch.empty(shape, dtype=x.dtype, pin_memory=self._on_gpu)
        self._places = torch.empty_like(self._gathered, device=device) if self._on_gpu else self._gathered
        if self._on_gpu:
            self._copying = torch.cuda.Stream(device)
            # The places may be memory that earlier work still reads.
            self._copying.wait_stream(torch.cuda.current_stream(device))
            self._copied, self._read = ([torch.cuda.Event() for _ in range(self.slots)] for _ in range(2))

    def fill(self, step: int, index: Tensor) -> None:
        """Gather a step's samples, and send them to the device; run by the thread."""
        place = step % self.slots
        if self._on_gpu:
            self._copied[place].synchronize()
        gather(self._x, index, self._gathered[place])
        if self._on_gpu:
            with torch.cuda.device(self._device), torch.cuda.stream(self._copying):
                self._copying.wait_event(self._read[place])
                self._places[place].copy_(self._gathered[place], non_blocking=True)
                self._copied[place].record(self._copying)

    def await_copy(self, step: int) -> None:
        """Let what is computed from now on begin after the step's inputs have come."""
        if self._on_gpu:
            torch.cuda.current_stream(self._device).wait_event(self._copied[step % self.slots])

    def at(self, step: Tensor) -> Tensor:
        """Return the inputs of a step."""
        return self._places.index_select(0, step % self.slots).squeeze(0)

    def release(self, step: int) -> None:
        """Let the place of a step be filled again, once all that was asked for until now is computed."""
        if self._on_gpu:
            self._read[step % self.slots].record(torch.cuda.current_stream(self._device))

    def close(self) -> None:
        """Wait for copies under way."""
        if self._on_gpu:
            self._copying.synchronize()


def gather(x: Tensor, index: Tensor, out: Tensor) -> None:
    """Put the rows of a tensor with these numbers into another one.

    By numpy where rows are runs of memory: torch would ask more threads, which wait for each other where cores are
    busy with the step (a batch of ten networks took 12 ms so on two busy cores, and 0.35 ms in this way).

    Examples
    --------
    >>> found = torch.empty(2, 1)
    >>> gather(torch.tensor([[5.0], [6.0], [7.0]]), torch.tensor([2, 0]), found)
    >>> found.flatten()
    tensor([7., 5.])
    """
    if x.is_contiguous():
        rows, places = (tensor.reshape(len(tensor), -1).view(torch.uint8).numpy() for tensor in (x, out))
        np.take(rows, index.numpy(), axis=0, out=places, mode="clip")  # other modes make a copy first
    else:
        torch.index_select(x, 0, index, out=out)
