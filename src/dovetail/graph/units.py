"""The units of a network while it is read: who makes them, and which of them are one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .structure import Indices


@dataclass(frozen=True)
class Source:
    """A run of units that came about together: the network's input, or the outputs of a layer.

    Attributes
    ----------
    name : str
        The layer, or ``"input"``.
    first, size : int
        The units are numbered from `first`.
    convolutional : bool
        Whether the units are the channels of a convolution.
    """

    name: str
    first: int
    size: int
    convolutional: bool


class Units:
    """Units in the order in which they came about, and which of them were found to be one and the same.

    Units become one when their values are added, or when one gates the other. The number -1 stands for no unit
    (a constant).
    """

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self._same = np.arange(0)  # for each unit the first one of those that are one with it

    def __len__(self) -> int:
        return len(self._same)

    def add(self, name: str, size: int, *, convolutional: bool) -> Indices:
        """Return the numbers of new units."""
        first = len(self)
        self.sources.append(Source(name, first, size, convolutional))
        new = np.arange(first, first + size)
        self._same = np.concatenate([self._same, new])
        return new

    def find(self, units: Indices) -> Indices:
        """Return, for each unit, the first of those that are one with it."""
        return np.where(units < 0, -1, self._same[units])

    def unite(self, some: Indices, others: Indices) -> None:
        """Make each of some units one with the unit at the same place of others; -1 joins nothing."""
        both = (some >= 0) & (others >= 0)
        some, others = self.find(some[both]), self.find(others[both])
        pairs = np.unique(some * len(self) + others)
        some, others = pairs // len(self), pairs % len(self)
        involved, place = np.unique(np.concatenate([some, others]), return_inverse=True)
        rows, columns = np.split(place, 2)
        links = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(involved),) * 2)
        _, part = connected_components(links, directed=False)
        _, first = np.unique(part, return_index=True)
        self._same[involved] = involved[first][part]
        self._same = self._same[self._same]
