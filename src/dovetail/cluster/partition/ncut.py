"""The normalised cut: how much of the weight at each cluster leads out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ...errors import DataError, ShapeError
from ...graph.graph import Block, Floats, NetworkGraph

_NEAR_ONE, _MANY = (1e-3, 1e3), 20_000_000
"""Largest weights that are left as they are where there are many: another copy of all would only take memory."""

Graph: TypeAlias = NetworkGraph | sparse.sparray | sparse.spmatrix | NDArray[np.floating] | ArrayLike


def ncut(graph: Graph, labels: ArrayLike) -> float:
    """Return the n-cut of a clustering: over all clusters, the sum of the share of weight that leads out of each.

    Divided by the number of clusters it is the chance that a connection picked at a cluster picked at random leaves it.

    Parameters
    ----------
    graph : NetworkGraph, sparse or dense matrix
        A symmetric matrix of connections, at least 0.
    labels : sequence of int
        The cluster of each node; nodes with a negative label are left out, with their connections.

    Examples
    --------
    Two pairs, and one weak connection between them:

    >>> import dovetail as dt
    >>> pairs = [[0, 9, 0, 0], [9, 0, 1, 0], [0, 1, 0, 9], [0, 0, 9, 0]]
    >>> round(dt.ncut(pairs, [0, 0, 1, 1]), 4), round(dt.ncut(pairs, [0, 1, 0, 1]), 4)
    (0.1053, 2.0)
    """
    adjacency = read_adjacency(graph)
    cluster = np.asarray(labels)
    if cluster.shape != (adjacency.shape[0],):
        raise ShapeError(
            f"labels of shape {cluster.shape} for a graph of {adjacency.shape[0]} nodes; give one for each node"
        )
    if not np.issubdtype(cluster.dtype, np.integer):
        raise DataError(f"labels are whole numbers, not {cluster.dtype}; a negative one leaves its node out")
    kept = cluster >= 0
    if not kept.any():
        raise DataError("no node has a cluster; all labels are negative")
    if not kept.all():
        adjacency = adjacency[kept][:, kept]
    names, member = np.unique(cluster[kept], return_inverse=True)
    one_hot = sparse.csr_array(
        (np.ones(len(member)), member, np.arange(len(member) + 1)), shape=(len(member), len(names))
    )
    between = (one_hot.T @ (adjacency @ one_hot)).toarray()
    return ncut_of_weights(np.diag(between), between.sum(1))


def ncut_of_weights(inside: Floats, volume: Floats) -> float:
    """Return the n-cut of clusters from the weight inside each and its weight in all; empty ones count nothing."""
    used = volume > 0
    return float(np.sum(1 - inside[used] / volume[used]))


def ncut_of_blocks(
    blocks: Sequence[Block], weights: Sequence[Floats], labels: NDArray[np.int64], k: int
) -> float:
    """Return the n-cut from blocks of weights, without building the graph's matrix."""
    return ncut_of_weights(*weights_of_clusters(blocks, weights, labels, k))


def weights_of_clusters(
    blocks: Sequence[Block], weights: Sequence[Floats], labels: NDArray[np.int64], k: int
) -> tuple[Floats, Floats]:
    """Return the weight inside of each cluster and its weight in all, from blocks of weights.

    Nodes without a cluster have no weights.
    """
    one_hot = (labels[:, None] == np.arange(k)).astype(np.float64)
    inside, volume = np.zeros(k), np.zeros(k)
    for block, matrix in zip(blocks, weights, strict=True):
        at_outputs, at_inputs = one_hot[block.outputs], one_hot[block.inputs]
        to_clusters = matrix @ at_inputs  # [outputs, k]
        inside += 2 * np.einsum("ok,ok->k", at_outputs, to_clusters)
        volume += to_clusters.sum(1) @ at_outputs + to_clusters.sum(0)
    return inside, volume


def read_adjacency(graph: Graph) -> sparse.csr_array:
    """Return a graph's matrix of connections, checked: square, symmetric, finite, not negative; the largest is 1."""
    if isinstance(graph, NetworkGraph):
        return unit_scale(graph).adjacency
    if hasattr(graph, "nodes") and hasattr(graph, "edges"):
        raise DataError(
            "no matrix but a graph object; pass its matrix, for networkx networkx.to_scipy_sparse_array(graph)"
        )
    try:
        given: Any = graph if sparse.issparse(graph) else np.asarray(graph)
        matrix: Any = sparse.csr_array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"no graph: a value of type {type(graph).__name__} ({error})") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ShapeError(f"a matrix of shape {matrix.shape} is no graph; connections are [nodes, nodes]")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if not np.isfinite(matrix.data).all():
        raise DataError("the graph has connections that are not finite")
    if (matrix.data < 0).any():
        raise DataError(f"the graph has a connection of {matrix.data.min():g}; weights are at least 0")
    difference = abs(matrix - matrix.T)
    if difference.nnz and difference.max() > 1e-9 * matrix.data.max():
        raise DataError("the graph is not symmetric; add its transpose to it")
    if matrix.nnz:
        matrix.data /= matrix.data.max()
    return sparse.csr_array(matrix)


def unit_scale(graph: NetworkGraph) -> NetworkGraph:
    """Return the graph with its largest weight at 1: no cut depends on the scale, and no sum overflows."""
    largest = max((float(block.weights.max(initial=0)) for block in graph.blocks), default=0.0)
    if not largest or (
        _NEAR_ONE[0] < largest < _NEAR_ONE[1] and sum(b.weights.size for b in graph.blocks) > _MANY
    ):
        return graph
    return replace(
        graph, blocks=tuple(replace(block, weights=block.weights / largest) for block in graph.blocks)
    )
