"""Modules of a network, read off its edges.

References
----------
.. [1] Patil, Michael, Dovrolis, "Neural Sculpting: Uncovering hierarchically modular task structure in neural networks
   through pruning and network analysis", NeurIPS 2023.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from ...errors import ShapeError
from ...graph.read import DenseNetwork, dense_matrices, module_chain
from ..settings import DetectionSettings, Distance, Linkage, Score
from .agglomerate import LayerClustering, agglomerate
from .hierarchy import Hierarchy
from .quality import Labels, unit_distances
from .reach import Edges, Features, later_units, steady_orders, used_units
from .ties import depends_on_ties

Member = TypeVar("Member", bound=Hashable)

MOST_UNITS = 5_000
"""Of a layer that are put into clusters: the distances between all two of them are kept in memory."""
MOST_REACHED = 2**28
"""Pairs of a unit and a later one that may be looked at."""


def detect_modules(
    network: DenseNetwork,
    *,
    example_input: Tensor | None = None,
    modularity_threshold: float = -0.2,
    merge_threshold: float = 0.9,
    linkage: Linkage = "average",
    distance: Distance = "cosine",
    score: Score = "modularity",
) -> Hierarchy:
    """Find the modules of a sparse network, and how they feed one another.

    Units without a path from an input or to an output are set aside. In each layer units that reach similar later
    units are put into clusters; then clusters of neighbouring layers that feed almost only each other become one
    module. Only which weights are 0 matters, not how large the others are; biases do not matter.

    Parameters
    ----------
    network : nn.Module, mapping or sequence of matrices
        A network of dense layers, which is followed through its forward, or its weight matrices or masks,
        ``[units, units before]``, first layer first; a mapping is read as a state dictionary. In a module with
        convolutions a unit is a channel, and two are connected unless the kernel between them, or all weights from the
        places of a flattened one, are 0.
    example_input : Tensor, optional
        A batch for a network that does not start with an ``nn.Linear``; only its shape counts.
    modularity_threshold : float
        Where the best clustering of a layer has a modularity metric above this, tests decide whether all its units
        belong together or all apart. -0.2 suits Boolean tasks; the paper takes -0.3 for images.
    merge_threshold : float
        Clusters are merged where more than this share of their edges run between them: 0.9, or 0.6 for images.
    linkage : {"average", "single", "complete", "ward"}
        What the distance between two clusters is; "ward" needs the distance "euclidean".
    distance : {"cosine", "jaccard", "euclidean"}
        What the distance between two units is.
    score : {"modularity", "silhouette", "calinski-harabasz", "davies-bouldin"}
        What decides the number of clusters in a layer.

    Returns
    -------
    Hierarchy
        Clusters, modules and unused units. How hidden units are numbered makes no difference to it, except in layers
        that are marked as `tied`.

    Examples
    --------
    >>> first = np.kron(np.eye(2), np.ones((2, 2)))  # two units read x1 and x2, two read x3 and x4
    >>> found = detect_modules([first, first])
    >>> found
    Hierarchy(4-4-4, 2 modules)
    >>> print(found.describe())
    4-4-4: 2 modules, 12 units, 16 edges
      M1      {x1, x2, y1, y2}, 2-2-2 units
      M2      {x3, x4, y3, y4}, 2-2-2 units
    """
    method = DetectionSettings.from_arguments(locals())
    connections = read_edges(network, example_input)
    used = used_units(connections)
    _check_size([len(units) for units in used])
    edges = [
        matrix[np.ix_(after, before)]
        for matrix, (before, after) in zip(connections, pairwise(used), strict=True)
    ]
    labels, clusterings = _cluster_layers(edges, method)
    modules = merge_clusters(edges, labels, method.merge_threshold)
    units = [(layer, unit) for layer, numbers in enumerate(used) for unit in numbers.tolist()]
    sizes = [connections[0].shape[1], *map(len, connections)]
    everything = frozenset((layer, unit) for layer, size in enumerate(sizes) for unit in range(size))
    return Hierarchy(
        connections,
        layers=tuple(_groups(layer, numbers.tolist()) for layer, numbers in zip(labels, used, strict=True)),
        modules=_groups(np.concatenate(modules), units),
        unused=everything.difference(units),
        clusterings=tuple(clusterings),
    )


def _check_size(used: Sequence[int]) -> None:
    """Refuse layers whose units, two by two, would fill memory."""
    later = sum(used)
    reached = 0
    for layer, units in enumerate(used[:-1]):
        later -= units
        reached += units * later
        if units > MOST_UNITS or reached > MOST_REACHED:
            raise ShapeError(
                f"layer {layer} has {units:,} units with paths through them, and {reached:,} pairs of units would be "
                f"compared; modules are found where layers have at most {MOST_UNITS:,} units, and pairs are at most "
                f"{MOST_REACHED:,}: prune it further, or name some of its layers"
            )


def read_edges(network: DenseNetwork, example_input: Tensor | None = None) -> tuple[Edges, ...]:
    """Return the edges between the layers of a network, first layer first: its weights other than 0.

    They share no memory with the network and cannot be written to.

    Examples
    --------
    >>> for edges in read_edges([[[0.5, 0.0], [0.0, -2.0]], [[1, 0]]]):
    ...     print(edges.tolist())
    [[True, False], [False, True]]
    [[True, False]]
    """
    if isinstance(network, nn.Module) and any(isinstance(part, _ConvNd) for part in network.modules()):
        params = dict(network.named_parameters())
        matrices = [
            layer.by_unit(params[layer.weight].detach()).ne(0).any(2)
            for layer in module_chain(network, example_input)
        ]
    else:
        matrices = [matrix != 0 for matrix in dense_matrices(network, example_input).values()]
    found = []
    for matrix in matrices:
        edges = matrix.cpu().numpy()
        edges.setflags(write=False)
        found.append(edges)
    return tuple(found)


def _cluster_layers(
    edges: Sequence[Edges], method: DetectionSettings
) -> tuple[list[Labels], list[LayerClustering]]:
    """Cluster every layer, in an order of its units that does not depend on how they are numbered."""
    features = later_units(edges)
    labels, clusterings = [], []
    for layer, order in zip(features, steady_orders(edges, features), strict=True):
        ordered, clustering = cluster_layer(layer[order], method)
        labels.append(ordered[np.argsort(order)])
        clusterings.append(clustering)
    outputs = len(edges[-1])
    return [*labels, np.arange(outputs)], [*clusterings, LayerClustering({}, chosen=outputs)]


def _groups(labels: Labels, members: Sequence[Member]) -> tuple[frozenset[Member], ...]:
    """Return the members that have the same label together, in the order of the first of each group."""
    groups: dict[int, list[Member]] = {}
    for label, member in zip(labels.tolist(), members, strict=True):
        groups.setdefault(label, []).append(member)
    return tuple(map(frozenset, groups.values()))


def cluster_layer(features: Features, method: DetectionSettings) -> tuple[Labels, LayerClustering]:
    """Put the units of a layer into clusters by which later units they reach.

    Parameters
    ----------
    features : bool array
        Which later units each unit reaches, ``[units, later units]``; each reaches at least one.
    method : DetectionSettings
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
    >>> labels, clustering = cluster_layer(features, DetectionSettings())
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
