"""The clusters of one perceptron, beside who its units belong to and what they respond to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...cluster import NetworkGraph, clusterability, ncut, network_graph, spectral_clusters
from ...cluster.null import Shuffle, Shuffles
from .agreement import agreement, rand
from .findings import VIEWS
from .ownership import Floats, Members

_COPIES: Mapping[str, Shuffle] = {"copies": "layer", "pattern copies": "layer-nonzero"}


def cluster_network(
    matrices: Sequence[Floats], memberships: Mapping[str, Sequence[Members]], settings: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Cluster a network into as many clusters as it has outputs, and compare with memberships of its units.

    Parameters
    ----------
    matrices : sequence of array
        Weights ``[outputs, inputs]``, first layer first.
    memberships : mapping
        Names and, for each layer of nodes, the class of each node; inputs count only for the n-cut.
    settings : mapping
        ``shuffles``, ``copies`` and ``permutations``: how many shuffled networks give the null of the n-cut, how many
        the null of the agreement, and how many permuted memberships.

    Returns
    -------
    dict
        For each of `VIEWS`: ``ncut``, its null (``dist_ncut``, ``dist_sd``, ``p_value``), ``components``, ``units``
        (hidden ones that have connections). And by the name of each membership, over those units: the adjusted Rand
        index (``agreement``; ``layers``: within each layer), its mean and p-value over memberships permuted within
        layers (``permuted``, ``p_value``), its mean over clusters of shuffled networks (``copies``; ``pattern copies``
        keep which weights are 0), the n-cut of the membership itself (``ncut``), and how many units of each class are
        in each cluster (``counts``).
    """
    found: dict[str, dict[str, Any]] = {}
    for view, first in VIEWS.items():
        graph = network_graph(list(matrices[first:]))
        k = len(matrices[-1])
        cut = clusterability(graph, k, settings["shuffles"], stability=0, progress=False)
        layer = graph.group_of + first
        hidden = (layer > 0) & (layer < len(matrices)) & (cut.labels >= 0)
        copies = {name: _copies(graph, how, k, settings["copies"]) for name, how in _COPIES.items()}
        found[view] = {
            "ncut": cut.ncut,
            "dist_ncut": cut.null_mean,
            "dist_sd": cut.null_std,
            "p_value": cut.p_value,
            "components": cut.components,
            "units": int(hidden.sum()),
        }
        for name, members in memberships.items():
            placed = np.concatenate(members[first:])
            found[view][name] = {
                **_compare(cut.labels[hidden], placed[hidden], layer[hidden], settings["permutations"]),
                **{kind: _mean_rand(labels, placed, hidden) for kind, labels in copies.items()},
                "ncut": ncut(graph, np.where(cut.labels >= 0, placed, -1)),
            }
    return found


def _compare(labels: Members, members: Members, layer: Members, permutations: int) -> dict[str, Any]:
    own = agreement(labels, members, layer, permutations=permutations)
    return {
        "agreement": own.all,
        "layers": [round(value, 6) for value in own.layers],
        "permuted": own.permuted,
        "p_value": own.p_value,
        "counts": _counts(members, labels).tolist(),
    }


def _copies(graph: NetworkGraph, how: Shuffle, k: int, count: int) -> list[Members]:
    """Return the clusters of shuffled copies of a network."""
    shuffles = Shuffles(graph, how)
    found = []
    for number in range(count):
        weights = shuffles.draw(np.random.default_rng((0, number)))
        blocks = [replace(block, weights=other) for block, other in zip(graph.blocks, weights, strict=True)]
        found.append(spectral_clusters(NetworkGraph(graph.groups, tuple(blocks)), k, seed=number))
    return found


def _mean_rand(copies: Sequence[Members], members: Members, hidden: NDArray[np.bool_]) -> float:
    return float(np.mean([rand(labels[hidden], members[hidden]) for labels in copies]))


def _counts(members: Members, labels: Members) -> Members:
    """Return how many units each class has in each cluster, ``[classes, clusters]``."""
    known = members >= 0
    counts = np.zeros((members.max() + 1, labels.max() + 1), dtype=np.int64)
    np.add.at(counts, (members[known], labels[known]), 1)
    return counts
