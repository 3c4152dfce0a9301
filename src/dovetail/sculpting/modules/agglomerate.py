"""Agglomerative clustering of a layer's units, the number of clusters chosen by a score and two tests."""

from __future__ import annotations

from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from .distances import Distances
from .hierarchy import LayerClustering
from .method import Method
from .quality import Labels, best_count, cut, modularity, scores_by_count
from .reach import Features
from .separability import decide, separability_tests


def agglomerate(features: Features, distances: Distances, method: Method) -> tuple[Labels, LayerClustering]:
    """Cluster two or more units; of clusters that are equally near, the order of the units decides.

    Parameters
    ----------
    features : bool array
        Which later units each unit reaches, ``[units, later units]``.
    distances : array
        Between any two units.
    method : Method
        How to join and judge.

    Returns
    -------
    labels : array of int
        The cluster of each unit.
    clustering : LayerClustering
        How it came about.

    Examples
    --------
    >>> import numpy as np
    >>> from dovetail.sculpting.modules.distances import unit_distances
    >>> features = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)
    >>> labels, clustering = agglomerate(features, unit_distances(features), Method())
    >>> labels.tolist(), clustering.best, [test.kind for test in clustering.tests if test.positive]
    ([0, 1, 2], 2, ['separate'])
    """
    units = len(features)
    tree = linkage(squareform(distances, checks=False), method.linkage)
    values = scores_by_count(features, distances, tree, method.score)
    best = best_count(values, method.score)
    if best is None:  # two units: the tests have to say, and always do
        one, other = features
        tests = separability_tests((one, other), (one, other))
        chosen = decide(*tests, count=2, units=2)
        return cut(tree, chosen), LayerClustering(values, chosen, best, tests, score=method.score)
    labels = cut(tree, best)
    metric = values[best] if method.score == "modularity" else modularity(distances, labels)
    if not needs_tests(best, metric, units, method):
        return labels, LayerClustering(values, best, best, score=method.score)
    tests = separability_tests(features[tree[0, :2].astype(int)], halves(features, cut(tree, 2)))
    chosen = decide(*tests, count=best, units=units)
    return cut(tree, chosen), LayerClustering(values, chosen, best, tests, score=method.score)


def needs_tests(best: int, metric: float, units: int, method: Method) -> bool:
    """Return whether the best clustering is next to an end of the scale, or hardly better than chance."""
    return best in (2, units - 1) or metric > method.modularity_threshold


def halves(features: Features, labels: Labels) -> tuple[Features, Features]:
    """Return which later units any unit of each of two clusters reaches."""
    first = labels == labels[0]
    return features[first].any(0), features[~first].any(0)
