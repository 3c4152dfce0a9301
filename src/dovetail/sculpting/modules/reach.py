"""Paths: which units have one from an input and to an output, and which later units each one reaches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Edges: TypeAlias = NDArray[np.bool_]
"""The edges between a layer and the one before it, ``[units, units before]``."""

Features: TypeAlias = NDArray[np.bool_]
"""Which later units each unit of a layer reaches, ``[units, later units]``."""


def used_units(edges: Sequence[Edges]) -> list[NDArray[np.intp]]:
    """Return for each layer the units with a path from an input and one to an output.

    Examples
    --------
    >>> first = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 0]], dtype=bool)
    >>> last = np.array([[1, 1, 0]], dtype=bool)
    >>> [units.tolist() for units in used_units([first, last])]
    [[0, 1], [0], [0]]
    """
    fed: list[NDArray[np.bool_]] = [np.ones(edges[0].shape[1], bool)]
    for matrix in edges:
        fed.append(np.any(matrix[:, fed[-1]], axis=1))
    heard: list[NDArray[np.bool_]] = [np.ones(len(edges[-1]), bool)]
    for matrix in reversed(edges):
        heard.append(np.any(matrix[heard[-1]], axis=0))
    return [np.flatnonzero(one & other) for one, other in zip(fed, reversed(heard), strict=True)]


def later_units(edges: Sequence[Edges]) -> list[Features]:
    """Return for each layer but the last which units of later layers its units reach, by paths of any length.

    Columns are the units of the next layer, then those of the one after it, and so on.

    Examples
    --------
    >>> chain = np.eye(2, dtype=bool)
    >>> later_units([chain, chain])[0].astype(int).tolist()
    [[1, 0, 1, 0], [0, 1, 0, 1]]
    """
    found: list[Features] = []
    beyond = np.zeros((len(edges[-1]), 0), bool)
    for matrix in reversed(edges):
        beyond = np.concatenate([matrix.T, _follow(matrix.T, beyond)], axis=1)
        found.append(beyond)
    return found[::-1]


def steady_orders(edges: Sequence[Edges], features: Sequence[Features]) -> list[NDArray[np.intp]]:
    """Return for each layer but the last an order of its units that does not depend on how hidden units are numbered.

    Inputs stay as they are. Hidden units are sorted by which outputs they reach, which inputs reach them, and how
    many units of each later layer they reach; only units that agree in all of this keep their given order.

    Examples
    --------
    >>> swap = np.array([[0, 1], [1, 0]], dtype=bool)
    >>> [order.tolist() for order in steady_orders([swap, swap], later_units([swap, swap]))]
    [[0, 1], [0, 1]]
    >>> same = np.eye(2, dtype=bool)
    >>> [order.tolist() for order in steady_orders([same, same], later_units([same, same]))]
    [[0, 1], [1, 0]]
    """
    outputs = len(edges[-1])
    orders = [np.arange(edges[0].shape[1])]
    sources: Edges | None = None
    for layer in range(1, len(edges)):
        reached = features[layer]
        sources = edges[0] if sources is None else _follow(edges[layer - 1], sources)
        later = np.split(reached, np.cumsum([len(matrix) for matrix in edges[layer:-1]]), axis=1)
        counts = np.stack([part.sum(1) for part in later], axis=1)
        bits = np.packbits(
            np.concatenate([reached[:, reached.shape[1] - outputs :], sources], axis=1), axis=1
        )
        keys = [(row.tobytes(), count) for row, count in zip(bits, counts.tolist(), strict=True)]
        orders.append(np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp))
    return orders


def _follow(steps: Edges, paths: Edges) -> Edges:
    """Return which ends are reached by one step and then a path, as a product of matrices in floats (which is fast)."""
    product: Edges = steps.astype(np.float32) @ paths.astype(np.float32) > 0
    return product
