"""Clusters in one layer: units that reach similar later units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .agglomerate import agglomerate
from .distances import unit_distances
from .hierarchy import LayerClustering
from .method import Method
from .quality import Labels
from .reach import Features
from .ties import depends_on_ties


def cluster_layer(features: Features, method: Method) -> tuple[Labels, LayerClustering]:
    """Put the units of a layer into clusters by which later units they reach.

    Parameters
    ----------
    features : bool array
        Which later units each unit reaches, ``[units, later units]``; each reaches at least one.
    method : Method
        How to measure, join and judge.

    Returns
    -------
    labels : array of int
        The cluster of each unit.
    clustering : LayerClustering
        How it came about.

    Examples
    --------
    >>> features = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]], dtype=bool)
    >>> labels, clustering = cluster_layer(features, Method())
    >>> labels.tolist(), clustering.metric, clustering.tied
    ([0, 0, 1, 1], {2: -0.5, 3: -0.375}, False)
    """
    if len(features) < 2:
        return np.zeros(len(features), np.intp), LayerClustering({}, chosen=len(features))
    distances = unit_distances(features, method.distance)
    labels, clustering = agglomerate(features, distances, method)
    if depends_on_ties(features, distances, method, labels, clustering):
        clustering = replace(clustering, tied=True)
    return np.unique(labels, return_inverse=True)[1], clustering
