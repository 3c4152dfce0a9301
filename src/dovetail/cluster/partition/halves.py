"""A layered network as one matrix of half the size.

Layers connect even layers with odd ones, so the graph's matrix has only two blocks that are not zero, B and its
transpose. The eigenvectors that clustering wants are the singular vectors of B, scaled by degrees, and those come from
a matrix of the smaller side: no matrix of the whole graph is made or factorised.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ...graph.graph import Floats, Indices, NetworkGraph

Precision: TypeAlias = type[np.float32] | type[np.float64]

_MOST = 8_000_000
"""Numbers in B for which it is made as a dense matrix."""


class Halves:
    """How the nodes of a graph fall into two sides, so that every block leads from one to the other.

    Attributes
    ----------
    rows, columns : int array
        The nodes of the larger and the smaller side.
    """

    def __init__(self, graph: NetworkGraph, side: NDArray[np.bool_]) -> None:
        if side.sum() * 2 > len(side):
            side = ~side
        self.rows, self.columns = np.flatnonzero(~side), np.flatnonzero(side)
        place = np.empty(len(side), dtype=np.int64)
        place[self.rows] = np.arange(len(self.rows))
        place[self.columns] = np.arange(len(self.columns))
        self._places: list[tuple[Indices, Indices, bool]] = []
        reach: dict[int, NDArray[np.bool_]] = {}
        for block in graph.blocks:
            turned = bool(side[block.outputs[0]])  # its outputs are columns
            ends = (block.inputs, block.outputs) if turned else (block.outputs, block.inputs)
            rows, columns = place[ends[0]], place[ends[1]]
            self._places.append((rows, columns, turned))
            for group in np.unique(graph.group_of[ends[0]]):
                reach.setdefault(int(group), np.zeros(len(self.columns), dtype=bool))[columns] = True
        # The rows of a group reach the columns of few groups: their products are small.
        self._strips = [
            (_slice(place[graph.group_of == group]), _slice(np.flatnonzero(reached)))
            for group, reached in reach.items()
        ]

    def matrix(self, weights: Sequence[Floats], precision: Precision = np.float64) -> Floats:
        """Return B, ``[rows, columns]``, for weights of the blocks."""
        matrix: Floats = np.zeros((len(self.rows), len(self.columns)), dtype=precision)
        for (rows, columns, turned), values in zip(self._places, weights, strict=True):
            part = _slice(rows), _slice(columns)
            if not all(isinstance(one, slice) for one in part):
                part = np.ix_(rows, columns)  # type: ignore[assignment]
            matrix[part] += values.T if turned else values
        return matrix

    def gram(self, matrix: Floats) -> Floats:
        """Return the product of a matrix like B with itself, ``[columns, columns]``."""
        product = np.zeros((matrix.shape[1], matrix.shape[1]), dtype=matrix.dtype)
        for rows, columns in self._strips:
            strip = np.ascontiguousarray(matrix[rows][:, columns])
            at = (columns, columns) if isinstance(columns, slice) else np.ix_(columns, columns)
            product[at] += strip.T @ strip
        return product


def _slice(places: Indices) -> slice | Indices:
    """Return a run of places as a slice, which numpy need not copy."""
    first, last = int(places[0]), int(places[-1])
    whole = last - first + 1 == len(places) and bool((np.diff(places) == 1).all())
    return slice(first, last + 1) if whole else places


def halves_of(graph: NetworkGraph) -> Halves | None:
    """Return the two sides of a graph; None where there are none (a cycle of odd length), or it is too large."""
    links: nx.Graph[int] = nx.empty_graph(len(graph.groups))
    for block in graph.blocks:
        outputs, inputs = (
            np.unique(graph.group_of[nodes]).tolist() for nodes in (block.outputs, block.inputs)
        )
        links.add_edges_from(product(outputs, inputs))
    try:
        colour = nx.bipartite.color(links)  # the first group of what is connected has 1
    except nx.NetworkXError:
        return None
    second = [group for group, degree in links.degree if degree and not colour[group]]
    side = np.isin(graph.group_of, second)
    return None if not graph.blocks or side.sum() * (~side).sum() > _MOST else Halves(graph, side)
