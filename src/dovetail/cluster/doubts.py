"""When an n-cut says little: parts that are not connected, and groups that hardly are."""

from __future__ import annotations

import numpy as np

from .graph.structure import Indices, NetworkGraph

_SMALL = 0.1
"""Clusters with less than this share of what an even cluster would weigh are small."""

_LOOSE = 0.1
"""Small clusters are almost isolated if less than this share of their weight leads out."""


def doubts(graph: NetworkGraph, labels: Indices, part: Indices, k: int) -> tuple[str, ...]:
    """Return, in words, what makes the n-cut of a clustering mean less than it seems to.

    Examples
    --------
    >>> import dovetail as dt
    >>> graph = dt.network_graph([np.diag([1.0, 2.0])])
    >>> doubts(graph, np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1]), 2)[0]
    'the graph falls into 2 parts that are not connected (2 and 2 nodes): cuts between them cost ...
    """
    found = []
    sizes = np.sort(np.bincount(part[part >= 0]))[::-1]
    if len(sizes) > 1:
        shown = ", ".join(map(str, sizes[:5])) if len(sizes) > 2 else " and ".join(map(str, sizes))
        more = ", ..." if len(sizes) > 5 else ""
        found.append(
            f"the graph falls into {len(sizes)} parts that are not connected ({shown}{more} nodes): cuts between them "
            "cost nothing, so a low n-cut need not mean clusters in the rest"
        )
    adjacency = graph.adjacency
    member = (labels[:, None] == np.arange(k)).astype(np.float64)
    volume = member.T @ adjacency.sum(1)
    inside = np.einsum("nk,nk->k", member, adjacency @ member)
    for cluster in np.flatnonzero(volume > 0):
        leaving = 1 - inside[cluster] / volume[cluster]
        share = volume[cluster] / volume.sum()
        if share < _SMALL / k and leaving < _LOOSE:
            found.append(
                f"cluster {cluster} is small ({int(member[:, cluster].sum())} nodes, {share:.2%} of the weight) and "
                f"almost isolated ({leaving:.1%} of its weight leads out): it lowers the n-cut without "
                "telling about the rest"
            )
    return tuple(found)
