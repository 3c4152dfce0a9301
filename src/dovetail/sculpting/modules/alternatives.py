"""Equal distances: every clustering that joining equally near clusters in some order can lead to."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .distances import Distances
from .method import Linkage
from .quality import Labels

Groups: TypeAlias = tuple[int, ...]
"""Clusters as sets of units: bit i of a number stands for unit i."""

MOST_UNITS, MOST_WAYS = 32, 64
"""How many units, and how many clusterings into the same number of clusters, are followed."""

_NEAR = 1e-9
"""Distances this close are equal: averages of equal distances differ by rounding."""


def alternatives(
    distances: Distances, sizes: NDArray[np.intp], linkage: Linkage
) -> dict[int, list[Labels]] | None:
    """Return all clusterings that agglomeration can give, by their number of clusters, down to 2.

    Parameters
    ----------
    distances : array
        Between any two of the units, ``[units, units]``.
    sizes : array of int
        How many units each of them stands for.
    linkage : {"average", "single", "complete", "ward"}
        What the distance between two clusters is.

    Returns
    -------
    dict of int to list of array, or None
        None when there are too many to follow.

    Examples
    --------
    >>> line = np.abs(np.subtract.outer([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]))  # the middle one is as near to both
    >>> [labels.tolist() for labels in alternatives(line, np.ones(3, int), "average")[2]]
    [[0, 0, 1], [0, 1, 1]]
    """
    units = len(distances)
    if units > MOST_UNITS:
        return None
    apart = distances.copy()
    if linkage == "ward":  # between clusters of units that are alike, of which `sizes` says how many
        apart *= np.sqrt(2 * np.multiply.outer(sizes, sizes) / np.add.outer(sizes, sizes))
    np.fill_diagonal(apart, np.inf)
    singles = tuple(1 << unit for unit in range(units))
    waiting = {frozenset(singles): (singles, apart, sizes)}
    found: dict[int, list[Labels]] = {}
    for count in range(units - 1, 1, -1):
        following: dict[frozenset[int], tuple[Groups, Distances, NDArray[np.intp]]] = {}
        for groups, apart, sizes in waiting.values():
            rows, columns = np.nonzero(apart <= apart.min() + _NEAR)
            for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
                if i > j:
                    continue
                joined = (*groups[:i], groups[i] | groups[j], *groups[i + 1 : j], *groups[j + 1 :])
                key = frozenset(joined)
                if key not in following:
                    following[key] = (joined, *_join(apart, sizes, i, j, linkage))
            if len(following) > MOST_WAYS:
                return None
        waiting = following
        found[count] = [_labels(groups, units) for groups, _, _ in waiting.values()]
    return found


def _join(
    apart: Distances, sizes: NDArray[np.intp], i: int, j: int, linkage: Linkage
) -> tuple[Distances, NDArray[np.intp]]:
    """Return distances and sizes once clusters i < j are one, which takes the place of i."""
    one, other = apart[i], apart[j]
    if linkage == "single":
        row = np.minimum(one, other)
    elif linkage == "complete":
        row = np.maximum(one, other)
    elif linkage == "average":
        row = (sizes[i] * one + sizes[j] * other) / (sizes[i] + sizes[j])
    else:
        both = (sizes[i] + sizes) * one**2 + (sizes[j] + sizes) * other**2 - sizes * apart[i, j] ** 2
        row = np.sqrt(both / (sizes[i] + sizes[j] + sizes))
    joined = apart.copy()
    joined[i], joined[:, i] = row, row
    joined[i, i] = np.inf
    keep = np.arange(len(apart)) != j
    counts = sizes.copy()
    counts[i] += counts[j]
    return joined[keep][:, keep], counts[keep]


def _labels(groups: Groups, units: int) -> Labels:
    return np.array([next(g for g, group in enumerate(groups) if group >> unit & 1) for unit in range(units)])
