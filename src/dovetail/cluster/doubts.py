"""Doubts about an n-cut: components that are not connected, and clusters that hardly are."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..graph.graph import Indices, NetworkGraph
from .partition.spectrum import components_of

_SMALL = 0.1
"""Clusters with less than this share of what an even cluster would weigh are small."""

_LOOSE = 0.1
"""Small clusters are almost isolated if less than this share of their weight leads out."""


_THREAD = 1e-6
"""Connections below this share of the weight at both of their ends hold nothing together."""

_FAINT = 1e-6
"""Units with less than this share of a usual unit's weight do nothing, though they are not quite cut off."""


def doubts(graph: NetworkGraph, labels: Indices, component: Indices, k: int) -> tuple[str, ...]:
    """Return, in words, what makes the n-cut of a clustering mean less than it seems to.

    Examples
    --------
    >>> import dovetail as dt
    >>> graph = dt.network_graph([np.diag([1.0, 2.0])])
    >>> doubts(graph, np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1]), 2)[0]
    'the graph falls into 2 components that are not connected (2 and 2 nodes): cuts between them cost ...
    """
    found = []
    sizes = np.sort(np.bincount(component[component >= 0]))[::-1]
    if len(sizes) > 1:
        shown = ", ".join(map(str, sizes[:5])) if len(sizes) > 2 else " and ".join(map(str, sizes))
        more = ", ..." if len(sizes) > 5 else ""
        found.append(
            f"the graph falls into {len(sizes)} components that are not connected ({shown}{more} nodes): cuts between "
            "them cost nothing, so a low n-cut need not mean clusters in the rest"
        )
    adjacency = graph.adjacency
    found += _threads(adjacency, len(sizes))
    found += _faint(adjacency)
    clusters = len(np.unique(labels[labels >= 0]))
    if clusters < k:
        found.append(
            f"only {clusters} of {k} clusters were found: some nodes lie so far from the rest that the others look the "
            "same; ask for fewer clusters, or leave those nodes out"
        )
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


def _threads(adjacency: sparse.csr_array, components: int) -> list[str]:
    """Return a doubt if the graph hangs together only by connections that are next to nothing."""
    degrees = np.asarray(adjacency.sum(1))
    entries = sparse.coo_array(adjacency)
    smaller = np.minimum(degrees[entries.coords[0]], degrees[entries.coords[1]])
    kept = entries.data >= _THREAD * smaller
    pulled = sparse.coo_array(
        (entries.data[kept], tuple(at[kept] for at in entries.coords)), shape=entries.shape
    )
    count = components_of(sparse.csr_array(pulled))[0]
    if count <= components:
        return []
    return [
        f"the graph would fall into {count} components without connections that are less than a millionth of what "
        "their ends have in all: cuts there cost almost nothing, so a low n-cut need not mean clusters in the rest"
    ]


def _faint(adjacency: sparse.csr_array) -> list[str]:
    """Return a doubt if some units are dead but for weights that decay has not quite brought to 0."""
    degrees = np.asarray(adjacency.sum(1))
    connected = degrees[degrees > 0]
    count = int((connected < _FAINT * np.median(connected)).sum()) if len(connected) else 0
    if not count:
        return []
    return [
        f"{count} units have less than a millionth of the weight that units usually have here (L2 leaves such): they "
        "do nothing, yet clusters are made of them; set their weights to 0 to leave them out"
    ]
