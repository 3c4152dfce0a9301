"""Ties: equal distances, of which another order of the units would take another, and whether they decided."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..settings import DetectionSettings, Linkage
from .agglomerate import LayerClustering, agglomerate, decide, needs_tests, reached_by_two, separability_tests
from .quality import Distances, Labels, badness, modularity, score_of
from .reach import Features

Bitsets: TypeAlias = tuple[int, ...]
"""Clusters as sets of units: bit i of a number stands for unit i."""

MOST_UNITS, MOST_WAYS = 32, 64
"""How many units, and how many clusterings into the same number of clusters, are followed."""

_NEAR = 1e-9
"""Distances this close are equal: averages of equal distances differ by rounding."""


def depends_on_ties(
    features: Features,
    distances: Distances,
    method: DetectionSettings,
    labels: Labels,
    clustering: LayerClustering,
) -> bool:
    """Return whether joining equally near clusters in another order could have led to other clusters.

    When it says no, the order cannot have mattered; where ties are too many to follow, it did not in a few others.

    Parameters
    ----------
    features, distances, method
        What was clustered, and how.
    labels, clustering
        What came out.

    Examples
    --------
    >>> from dovetail.sculpting.modules.quality import unit_distances
    >>> chain = np.array([[1, 1, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1]], dtype=bool)
    >>> layer = chain, unit_distances(chain), DetectionSettings()
    >>> depends_on_ties(*layer, *agglomerate(*layer))
    True
    """
    # Units that reach the same are joined before all others, in whatever order.
    _, kinds, kind, sizes = np.unique(
        (distances == 0).argmax(1), return_index=True, return_inverse=True, return_counts=True
    )
    if len(kinds) == 1 or clustering.best is None:
        return False
    if len(kinds) < clustering.best == clustering.chosen:
        return True  # of units that reach the same, some were put together and some were not
    ways = alternatives(distances[np.ix_(kinds, kinds)], sizes, method.linkage)
    if ways is None:
        return any(not _same(labels, other) for other in _in_other_orders(features, distances, method))
    if all(len(clusterings) == 1 for clusterings in ways.values()):
        return False
    found = {count: [way[kind] for way in clusterings] for count, clusterings in ways.items()}
    if len(kinds) < len(features):
        found[len(kinds)] = [kind]
    return _outcomes_differ(features, distances, method, clustering, found)


def _outcomes_differ(
    features: Features,
    distances: Distances,
    method: DetectionSettings,
    clustering: LayerClustering,
    found: dict[int, list[Labels]],
) -> bool:
    """Return whether the clusterings that can be found, by their number of clusters, lead to more than one outcome."""
    units = len(features)
    scores = {
        count: [badness(score_of(features, distances, labels, method.score), method.score) for labels in ways]
        for count, ways in found.items()
    }
    for count, value in clustering.metric.items():
        scores.setdefault(count, [badness(value, method.score)])
    worst = {count: max(values) for count, values in scores.items()}
    decisions = {
        decide(*separability_tests(pair, reached_by_two(features, labels)), count=0, units=units)
        for pair, labels in product(_joined_first(features, found), found[2])
    }
    outcomes: set[int | bytes] = set()
    for count, values in scores.items():
        for place, value in enumerate(values):
            if any(value > most or (value == most and more > count) for more, most in worst.items()):
                continue  # another number of clusters is better, in whatever order
            if count in found:
                labels = found[count][place]
                kept = labels.tobytes()
                tested = needs_tests(count, modularity(distances, labels), units, method)
                outcomes |= {decision or kept for decision in decisions} if tested else {kept}
            elif 0 in decisions or count < units - 1:
                return True  # of units that reach the same, some would be put together and some would not
            else:
                outcomes |= decisions
    return len(outcomes) > 1


def _joined_first(features: Features, found: dict[int, list[Labels]]) -> Iterator[Features]:
    """Yield the features of every two units that can be the first to be joined."""
    apart = len(features) - 1
    if apart not in found:  # any two that reach the same
        yield features[[0, 0]]
    for labels in found.get(apart, []):
        yield features[np.bincount(labels)[labels] == 2]


def _in_other_orders(features: Features, distances: Distances, method: DetectionSettings) -> Iterator[Labels]:
    units, shuffle = len(features), np.random.default_rng(0)
    for number in range(max(4, 200 // units)):
        order = shuffle.permutation(units) if number else np.arange(units)[::-1]
        labels, _ = agglomerate(features[order], distances[np.ix_(order, order)], method)
        yield labels[np.argsort(order)]


def _same(one: Labels, other: Labels) -> bool:
    """Return whether two clusterings are the same but for the names of the clusters."""
    return bool(np.array_equal(one[:, None] == one, other[:, None] == other))


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
        following: dict[frozenset[int], tuple[Bitsets, Distances, NDArray[np.intp]]] = {}
        for clusters, apart, sizes in waiting.values():
            rows, columns = np.nonzero(apart <= apart.min() + _NEAR)
            for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
                if i > j:
                    continue
                joined = (*clusters[:i], clusters[i] | clusters[j], *clusters[i + 1 : j], *clusters[j + 1 :])
                key = frozenset(joined)
                if key not in following:
                    following[key] = (joined, *_join(apart, sizes, i, j, linkage))
            if len(following) > MOST_WAYS:
                return None
        waiting = following
        found[count] = [_labels(clusters, units) for clusters, _, _ in waiting.values()]
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


def _labels(clusters: Bitsets, units: int) -> Labels:
    return np.array(
        [next(g for g, cluster in enumerate(clusters) if cluster >> unit & 1) for unit in range(units)]
    )
