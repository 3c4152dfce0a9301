"""Finders of modules, all that this package has: what each finds in a network that is known, and whether it is sure."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import torch
from torch import nn

from ...cluster import clusterability, effect_profiles, path_profiles, profile_clusters
from ...cluster.null import Null, Shuffles
from ...cluster.partition.ncut import unit_scale
from ...cluster.settings import Method
from ...graph import NetworkGraph
from ...graph.graph import Floats, Indices
from ...planted import KnownNetwork
from ...sculpting import detect_modules


@dataclass(frozen=True)
class Finding:
    """Clusters of a network's nodes, and how likely shuffled copies are to have as good ones."""

    labels: Indices
    p_value: float | None


def find(
    name: str, known: KnownNetwork, graph: NetworkGraph, k: int, shuffles: int, seed: int
) -> Finding | None:
    """Return what a finder finds; nothing for a network that it cannot look at.

    Parameters
    ----------
    name : str
        ``"spectral"`` and ``"leiden"``: `clusterability`, with its own p-value. ``"paths"`` and ``"lesions"``: k-means
        of `path_profiles` and `effect_profiles`; how good they are is the share of variance between clusters.
        ``"sculpted"``: `detect_modules` of the largest weights, a share ``1 / k`` of each layer; how good its modules
        are is their modularity. It is the only one that is not told how many modules there are.
    known : KnownNetwork
        The network. Of what is known, nothing is used.
    graph : NetworkGraph
        Its graph.
    k : int
        How many modules there are.
    shuffles : int
        Shuffled copies beside it; with none there is no p-value.
    seed : int
        Of copies and clusterings.
    """
    if name in ("spectral", "leiden"):
        method: Method = "spectral" if name == "spectral" else "leiden"
        audit = clusterability(graph, k, shuffles, method=method, seed=seed, stability=0, progress=False)
        return Finding(audit.labels, audit.p_value if shuffles else None)
    scaled = unit_scale(graph)
    if name == "sculpted" and not _is_chain(graph):
        return None
    if name == "lesions":
        first = _by_lesions(known.network, known, graph, k, seed)
        others = (
            _by_lesions(shuffled_network(known.network, (seed, number)), known, graph, k, seed)
            for number in range(shuffles)
        )
    else:
        look = {"paths": _by_paths, "sculpted": _by_modules}[name]
        copies, rng = Shuffles(scaled, "layer"), np.random.default_rng((seed, 3))
        first = look(scaled, k, seed)
        others = (look(with_weights(scaled, copies.draw(rng)), k, seed) for _ in range(shuffles))
    # A low n-cut is a good one; so is a high measure of these.
    null = Null(-first[1], np.array([-measure for _, measure in others]))
    return Finding(first[0], null.p_value if shuffles else None)


FINDERS = ("spectral", "leiden", "paths", "lesions", "sculpted")

_Looked: TypeAlias = tuple[Indices, float]
"""Clusters, and how good they are."""


def _by_paths(graph: NetworkGraph, k: int, seed: int) -> _Looked:
    return _alike(path_profiles(graph), k, seed)


def _by_lesions(network: nn.Module, known: KnownNetwork, graph: NetworkGraph, k: int, seed: int) -> _Looked:
    return _alike(effect_profiles(network, known.samples, graph), k, seed)


def _alike(profiles: Floats, k: int, seed: int) -> _Looked:
    """Cluster profiles; small programs may have fewer units with one than parts."""
    return profile_clusters(profiles, min(k, int(profiles.any(axis=1).sum())), seed=seed)


def _by_modules(graph: NetworkGraph, k: int, seed: int) -> _Looked:
    layers = [graph.blocks[0].inputs, *(block.outputs for block in graph.blocks)]
    matrices = [block.weights >= np.quantile(block.weights, 1 - 1 / k) for block in graph.blocks]
    labels = np.full(len(graph), -1)
    for number, module in enumerate(detect_modules(matrices).modules):
        for layer, unit in module:
            labels[layers[layer][unit]] = number
    return labels, modularity(graph, labels)


def _is_chain(graph: NetworkGraph) -> bool:
    return all(np.array_equal(one.outputs, other.inputs) for one, other in pairwise(graph.blocks))


def modularity(graph: NetworkGraph, labels: Indices) -> float:
    """Return Newman's modularity of clusters; nodes in none are by themselves.

    Examples
    --------
    >>> import dovetail as dt
    >>> graph = dt.network_graph([[[1.0, 0.0], [0.0, 1.0]]])
    >>> modularity(graph, np.array([0, 1, 0, 1]))
    0.5
    """
    own = np.where(labels < 0, labels.max(initial=-1) + 1 + np.arange(len(labels)), labels)
    weights = graph.adjacency.tocoo()
    total = weights.data.sum()
    inside = weights.data[own[weights.coords[0]] == own[weights.coords[1]]].sum()
    volume = np.bincount(own, weights=graph.adjacency.sum(1))
    return float(inside / total - np.square(volume / total).sum())


def with_weights(graph: NetworkGraph, weights: Sequence[Floats]) -> NetworkGraph:
    """Return a graph with other weights in its blocks."""
    blocks = tuple(replace(block, weights=own) for block, own in zip(graph.blocks, weights, strict=True))
    return replace(graph, blocks=blocks)


def shuffled_network(network: nn.Module, seed: Sequence[int]) -> nn.Module:
    """Return a copy of a network in which the weights of each layer have changed places, kernels as a whole."""
    mixed, rng = copy.deepcopy(network), np.random.default_rng((*seed, 5))
    with torch.no_grad():
        for name, weight in mixed.named_parameters():
            if name.endswith("weight") and weight.dim() > 1:
                kernels = weight.flatten(0, 1)
                weight.copy_(kernels[torch.from_numpy(rng.permutation(len(kernels)))].view_as(weight))
    return mixed
