"""Modules: clusters of neighbouring layers that feed almost only each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from .matrices import Edges
from .quality import Labels


def merge_clusters(
    edges: Sequence[Edges], labels: Sequence[Labels], threshold: float
) -> list[NDArray[np.intp]]:
    """Return the module of every unit, layer by layer.

    Two clusters of neighbouring layers are merged where more than a share ``threshold`` of the edges out of the first
    and of the edges into the second run between them. For the last layer the edges into it suffice, so that many
    outputs can belong to one module.

    Parameters
    ----------
    edges : sequence of bool array
        Between the layers; all units are used ones.
    labels : sequence of int array
        The cluster of each unit, from 0, for each layer from the inputs to the outputs.
    threshold : float
        From 0 to below 1.

    Examples
    --------
    >>> edges = [np.array([[1, 1, 0], [0, 0, 1]], dtype=bool), np.array([[1, 0], [1, 0], [1, 1]], dtype=bool)]
    >>> clusters = [np.array([0, 0, 1]), np.array([0, 1]), np.array([0, 1, 2])]
    >>> [modules.tolist() for modules in merge_clusters(edges, clusters, 0.9)]
    [[0, 0, 1], [0, 1], [0, 0, 2]]
    """
    members = [
        (layer == np.arange(layer.max(initial=-1) + 1)[:, None]).astype(np.float64) for layer in labels
    ]
    starts = np.cumsum([0, *map(len, members)]).tolist()
    graph: nx.Graph[int] = nx.empty_graph(starts[-1])
    for layer, (before, after) in enumerate(pairwise(members)):
        between = after @ edges[layer] @ before.T
        strong = between / between.sum(1, keepdims=True) > threshold
        if layer < len(edges) - 1:
            strong &= between / between.sum(0, keepdims=True) > threshold
        graph.add_edges_from(np.argwhere(strong)[:, ::-1] + starts[layer : layer + 2])
    module = np.empty(starts[-1], np.intp)
    for number, clusters in enumerate(nx.connected_components(graph)):
        module[list(clusters)] = number
    return [module[start + layer] for start, layer in zip(starts, labels, strict=False)]
