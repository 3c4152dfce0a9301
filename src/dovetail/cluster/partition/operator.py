"""The matrix of a graph that is never made: its blocks of weights, multiplied with vectors one by one.

Weights are scaled by degrees and kept in single precision where there are many, each block dense or sparse as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...graph.graph import Block, Floats, Indices, NetworkGraph

Precision: TypeAlias = type[np.float32] | type[np.float64]
Matrix: TypeAlias = "NDArray[np.floating] | sparse.csr_array"

_SPARSE = 0.1
"""Share of entries that are not 0 below which a block is kept as a sparse matrix."""

_STRIP = 2**20
"""Entries of a dense block that are multiplied both ways before the next: few enough to stay in the caches."""


class Blocks:
    """The blocks of a graph, and where in a vector of all nodes their outputs and inputs stand."""

    def __init__(self, graph: NetworkGraph) -> None:
        self.nodes = len(graph)
        self._places = [(run_of(block.outputs), run_of(block.inputs)) for block in graph.blocks]

    def degrees(self, weights: Sequence[Floats]) -> Floats:
        """Return the sum of the weights at each node."""
        degrees = np.zeros(self.nodes)
        for (outputs, inputs), matrix in zip(self._places, weights, strict=True):
            degrees[outputs] += matrix.sum(1)
            degrees[inputs] += matrix.sum(0)
        return degrees

    def scaled(self, weights: Sequence[Floats], inverse_root: Floats, precision: Precision) -> list[Matrix]:
        """Return each block's weights, divided by the roots of the degrees at both ends."""
        found: list[Matrix] = []
        kind: np.dtype[np.floating] = np.dtype(precision)
        for (outputs, inputs), matrix in zip(self._places, weights, strict=True):
            rows, columns = inverse_root[outputs].astype(kind), inverse_root[inputs].astype(kind)
            if np.count_nonzero(matrix) < _SPARSE * matrix.size:
                thin = sparse.csr_array(matrix.astype(kind))
                thin.data *= (
                    rows[np.repeat(np.arange(len(rows)), np.diff(thin.indptr))] * columns[thin.indices]
                )
                found.append(thin)
            else:
                dense: NDArray[np.floating] = matrix.astype(kind)
                dense *= rows[:, None]
                dense *= columns
                found.append(dense)
        return found

    def apply(self, matrices: Sequence[Matrix], x: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the product of the whole matrix with a vector."""
        result = np.zeros_like(x)
        for (outputs, inputs), matrix in zip(self._places, matrices, strict=True):
            given, taken = x[inputs], x[outputs]
            if isinstance(matrix, np.ndarray):
                forward = np.empty(len(matrix), dtype=x.dtype)
                backward = np.zeros(matrix.shape[1], dtype=x.dtype)
                # Memory is slower than the processor: each strip is read once for both ways.
                rows = max(1, _STRIP // matrix.shape[1])
                for first in range(0, len(matrix), rows):
                    strip = matrix[first : first + rows]
                    np.dot(strip, given, out=forward[first : first + rows])
                    backward += taken[first : first + rows] @ strip
            else:
                forward, backward = matrix @ given, matrix.T @ taken
            result[outputs] += forward
            result[inputs] += backward
        return result


def component_of(graph: NetworkGraph, weights: Sequence[Floats]) -> Indices:
    """Return the connected component of each node, -1 for nodes without connections.

    Nearly always almost all nodes are connected, which a few products tell; only what is left is made a matrix.

    Examples
    --------
    >>> import dovetail as dt
    >>> graph = dt.network_graph([[[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]])
    >>> component_of(graph, [block.weights for block in graph.blocks]).tolist()
    [0, 1, 0, 1, -1]
    """
    total = len(graph)
    used = np.zeros(total, dtype=bool)
    linked = [matrix > 0 for matrix in weights]
    for block, links in zip(graph.blocks, linked, strict=True):
        used[block.outputs] |= links.any(1)
        used[block.inputs] |= links.any(0)
    component = np.full(total, -1)
    if not used.any():
        return component
    most = max(range(len(linked)), key=lambda number: int(linked[number].sum()))
    reached = np.zeros(total, dtype=bool)
    reached[graph.blocks[most].outputs[int(linked[most].sum(1).argmax())]] = True
    count = 0
    while count < (count := int(reached.sum())):
        for block, links in zip(graph.blocks, linked, strict=True):
            _spread(reached, block.outputs, block.inputs, links)
        for block, links in zip(reversed(graph.blocks), reversed(linked), strict=True):
            _spread(reached, block.outputs, block.inputs, links)
    component[reached] = 0
    left = used & ~reached
    if left.any():
        _, numbers = connected_components(_among(left, graph.blocks, linked), directed=False)
        component[left] = 1 + np.unique(numbers, return_inverse=True)[1]
        # Numbered by their first nodes.
        first = np.unique(component[used], return_index=True)[1]
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        component[used] = rank[component[used]]
    return component


def _spread(reached: NDArray[np.bool_], outputs: Indices, inputs: Indices, links: NDArray[np.bool_]) -> None:
    """Mark what is linked with something that is marked, from inputs to outputs and back."""
    new = ~reached[outputs]
    if new.any() and reached[inputs].any():
        reached[outputs[new]] = links[new][:, reached[inputs]].any(1)
    new = ~reached[inputs]
    if new.any() and reached[outputs].any():
        reached[inputs[new]] = links[:, new][reached[outputs]].any(0)


def _among(
    left: NDArray[np.bool_], blocks: Sequence[Block], linked: Sequence[NDArray[np.bool_]]
) -> sparse.csr_array:
    """Return the links between some nodes as a matrix of these alone."""
    place = np.cumsum(left) - 1
    rows, columns = [np.arange(0)], [np.arange(0)]
    for block, links in zip(blocks, linked, strict=True):
        at_outputs, at_inputs = left[block.outputs], left[block.inputs]
        outputs, inputs = np.nonzero(links[at_outputs][:, at_inputs])
        rows.append(place[block.outputs[at_outputs]][outputs])
        columns.append(place[block.inputs[at_inputs]][inputs])
    row, column = np.concatenate(rows), np.concatenate(columns)
    size = int(left.sum())
    return sparse.coo_array((np.ones(len(row)), (row, column)), shape=(size, size)).tocsr()


def run_of(places: Indices) -> slice | Indices:
    """Return a run of places as a slice, which numpy need not copy."""
    first, last = int(places[0]), int(places[-1])
    whole = last - first + 1 == len(places) and bool((np.diff(places) == 1).all())
    return slice(first, last + 1) if whole else places
