"""Tensors that share memory: what was written through one of them is what another reads later."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.storage import UntypedStorage

Content = TypeVar("Content")


@dataclass(frozen=True)
class Layout:
    """Where the entries of a tensor lie in memory, counted in entries.

    Examples
    --------
    >>> whole = torch.zeros(2, 3)
    >>> Layout.of(whole[:, 1:]).of_memory(torch.arange(6))
    tensor([[1, 2],
            [4, 5]])
    """

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, tensor: Tensor) -> Layout:
        """Return the layout of a tensor."""
        return cls(tuple(tensor.shape), tensor.stride(), int(tensor.storage_offset()))

    @property
    def end(self) -> int:
        """One more than the last entry."""
        steps = zip(self.size, self.stride, strict=True)
        return 0 if 0 in self.size else 1 + self.offset + sum((size - 1) * stride for size, stride in steps)

    def of_memory(self, memory: Tensor) -> Tensor:
        """Return what lies there in memory that is given as a vector."""
        return memory.as_strided(self.size, self.stride, self.offset)

    def meets(self, other: Layout) -> bool:
        """Whether some entry belongs to both."""
        if not self.end or not other.end:
            return False
        memory = torch.zeros(max(self.end, other.end), dtype=torch.bool)
        other.of_memory(memory).fill_(True)
        return bool(self.of_memory(memory).any())


@dataclass(frozen=True)
class Write(Generic[Content]):
    """Something was written into memory.

    Attributes
    ----------
    time : int
        When, as a number that grows.
    layout : Layout
        Where.
    content
        What is there since.
    memory : StorageWeakRef
        The memory. It may be freed, but no other gets its number while this is held.
    """

    time: int
    layout: Layout
    content: Content
    memory: StorageWeakRef


class Writes(Generic[Content]):
    """All writes of a run, by the memory that they went to."""

    def __init__(self) -> None:
        self._by_memory: defaultdict[int, list[Write[Content]]] = defaultdict(list)

    def __bool__(self) -> bool:
        return bool(self._by_memory)

    def note(self, tensor: Tensor, time: int, content: Content) -> None:
        """Note that a tensor was changed in place."""
        storage = _storage(tensor)
        if storage is not None:
            memory = StorageWeakRef(storage)
            self._by_memory[memory.cdata].append(Write(time, Layout.of(tensor), content, memory))

    def since(self, time: int, tensor: Tensor) -> Iterator[Write[Content]]:
        """Yield what was written after a time into entries of a tensor, through whichever tensor."""
        storage = _storage(tensor)
        if storage is None or storage._cdata not in self._by_memory:
            return
        layout = Layout.of(tensor)
        for write in self._by_memory[storage._cdata]:
            if write.time > time and layout.meets(write.layout):
                yield write


def version(tensor: Tensor) -> int:
    """Return how often a tensor's memory was written to, as far as PyTorch counts it."""
    return 0 if tensor.is_inference() else tensor._version


def _storage(tensor: Tensor) -> UntypedStorage | None:
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):  # a sparse tensor, for one, has none
        return None
