"""Distances between the units of a layer, and how good a clustering of them is: the modularity metric, and others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..settings import Distance, Score
from .reach import Features

Distances: TypeAlias = NDArray[np.float64]
"""Symmetric, with 0 on the diagonal, ``[units, units]``."""

Labels: TypeAlias = NDArray[np.intp]
"""The cluster of each unit."""

Tree: TypeAlias = NDArray[np.float64]
"""Which clusters were joined, step by step, as ``scipy.cluster.hierarchy.linkage`` gives it."""

DECIMALS = 8
"""Scores that agree to this many decimals are equal."""


def unit_distances(features: Features, distance: Distance = "cosine") -> Distances:
    """Return the distance between every two units.

    All three distances are computed from whole numbers (how many later units each reaches, and how many both),
    so that distances that are equal are equal in the last bit, in whatever order the units come.

    Examples
    --------
    >>> features = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]], dtype=bool)
    >>> unit_distances(features).tolist()
    [[0.0, 0.0, 0.5], [0.0, 0.0, 0.5], [0.5, 0.5, 0.0]]
    >>> unit_distances(features, "jaccard").round(2)[0].tolist()
    [0.0, 0.0, 0.67]
    """
    ones = features.astype(np.float32)
    both = (ones @ ones.T).astype(np.float64)
    one, other = both.diagonal()[:, None], both.diagonal()[None, :]
    if distance == "cosine":
        return 1 - both / np.sqrt(one * other)
    if distance == "jaccard":
        return 1 - both / (one + other - both)
    result: Distances = np.sqrt(one + other - 2 * both)
    return result


def modularity(distances: Distances, labels: Labels) -> float:
    """Return the modularity metric of a clustering, lower is better: equation 2 of the paper.

    Of all distance between units, the share that lies within clusters, less the share that would if distances were
    dealt out at random.

    Examples
    --------
    >>> two_pairs = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    >>> modularity(two_pairs, np.array([0, 0, 1, 1])), modularity(two_pairs, np.array([0, 1, 0, 1]))
    (-0.5, 0.0)
    """
    total = float(distances.sum())
    if total == 0:
        return 0.0
    members = (labels == np.unique(labels)[:, None]).astype(np.float64)
    between = members @ distances @ members.T / total
    return _rounded(float(between.trace() - np.square(between.sum(1)).sum()))


def scores_by_count(features: Features, distances: Distances, tree: Tree, score: Score) -> dict[int, float]:
    """Return the score of every number of clusters from 2 to one less than there are units.

    Examples
    --------
    >>> from scipy.cluster.hierarchy import linkage
    >>> points = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1]], dtype=bool)
    >>> apart = 1.0 - (points @ points.T)
    >>> scores_by_count(points, apart, linkage(apart[np.triu_indices(4, 1)]), "modularity")
    {2: -0.5, 3: -0.375}
    """
    if score == "modularity":
        found = _modularity_by_count(distances, tree)
    else:
        found = {
            count: score_of(features, distances, labels, score)
            for count, labels in cuts(tree)
            if 1 < count <= len(tree)
        }
    return dict(sorted(found.items()))


def score_of(features: Features, distances: Distances, labels: Labels, score: Score) -> float:
    """Return the score of one clustering into 2 or more clusters, fewer than there are units."""
    if score == "modularity":
        return modularity(distances, labels)
    from sklearn import metrics  # takes a while to import

    if score == "silhouette":
        return _rounded(float(metrics.silhouette_score(distances, labels, metric="precomputed")))
    if score == "calinski-harabasz":
        return _rounded(float(metrics.calinski_harabasz_score(features, labels)))
    return _rounded(float(metrics.davies_bouldin_score(features, labels)))


def badness(value: float, score: Score) -> float:
    """Return a score so that less is better."""
    return value if score in ("modularity", "davies-bouldin") else -value


def best_count(values: dict[int, float], score: Score) -> int | None:
    """Return the number of clusters with the best score, the largest where several have it.

    Examples
    --------
    >>> best_count({2: -0.3, 3: -0.4, 4: -0.4, 5: -0.1}, "modularity")
    4
    >>> best_count({2: 0.7, 3: 0.4}, "silhouette")
    2
    """
    return min(values, key=lambda count: (badness(values[count], score), -count), default=None)


def cuts(tree: Tree) -> Iterator[tuple[int, Labels]]:
    """Yield the number of clusters and the labels, from every unit apart to all together.

    Examples
    --------
    >>> from scipy.cluster.hierarchy import linkage
    >>> for count, labels in cuts(linkage([1.0, 3.0, 2.0])):
    ...     print(count, labels)
    3 [0 1 2]
    2 [3 3 2]
    1 [4 4 4]
    """
    units = len(tree) + 1
    labels = np.arange(units)
    yield units, labels
    for step, (one, other) in enumerate(tree[:, :2].tolist()):
        labels = np.where((labels == one) | (labels == other), units + step, labels)
        yield units - step - 1, labels


def cut(tree: Tree, count: int) -> Labels:
    """Return the labels of the clustering into a number of clusters."""
    return next(labels for clusters, labels in cuts(tree) if clusters == count)


def _modularity_by_count(distances: Distances, tree: Tree) -> dict[int, float]:
    """Follow the tree: joining two clusters changes only their own terms of the sum."""
    units, total = len(distances), float(distances.sum())
    if total == 0:
        return dict.fromkeys(range(2, units), 0.0)
    between = distances / total
    rows = between.sum(1)
    value = -float(np.square(rows).sum())
    place = list(range(units))  # the row of each cluster
    found = {}
    for step, (one, other) in enumerate(tree[: units - 2, :2].astype(int).tolist()):
        i, j = place[one], place[other]
        value += 2 * float(between[i, j] - rows[i] * rows[j])
        between[i] += between[j]
        between[:, i] += between[:, j]
        rows[i] += rows[j]
        place.append(i)
        found[units - step - 1] = _rounded(value)
    return found


def _rounded(value: float) -> float:
    return round(value, DECIMALS) + 0.0  # never -0.0
