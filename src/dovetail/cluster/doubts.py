"""Doubts about an n-cut: units that do nothing, components that are not connected, clusters that hardly are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..graph.graph import Floats, Indices, NetworkGraph
from .depth import Depth
from .null import ENOUGH
from .partition.ncut import weights_of_clusters
from .partition.operator import component_of

_NEGLIGIBLE = 1e-5
"""Units with less than this share of the weight that units of their layer usually have do nothing."""

_MOST_NAMED = 12
"""Units that are named one by one."""

_SMALL = 0.1
"""Clusters with less than this share of what an even cluster would weigh are small."""

_LOOSE = 0.1
"""Small clusters are almost isolated if less than this share of their weight leads out."""


_THREAD = 1e-6
"""Connections below this share of the weight at both of their ends hold nothing together."""

_FAINT = 1e-6
"""Units with less than this share of a usual unit's weight do nothing, though they are not quite cut off."""


def negligible_units(graph: NetworkGraph) -> NDArray[np.bool_]:
    """Return which units are as good as dead: their connections are next to nothing beside those of their layer.

    Training leaves such units (decay, batch norm). They would not matter, but two of them that lead to each other are a
    cluster that costs almost nothing, and one that is cut apart costs almost 2. Units that are left without any
    connection once those are gone are counted too; units that never had one are not.

    Examples
    --------
    >>> import dovetail as dt
    >>> weights = np.ones((3, 4))
    >>> weights[1] = 1e-9
    >>> negligible_units(dt.network_graph([weights])).nonzero()[0].tolist()
    [5]
    """
    degrees = _degrees(graph, np.ones(len(graph)))
    usual = np.zeros(len(graph.groups))
    for number in range(len(graph.groups)):
        here = degrees[graph.group_of == number]
        usual[number] = np.median(here[here > 0]) if (here > 0).any() else 0
    least = _NEGLIGIBLE * usual[graph.group_of]
    gone = (degrees > 0) & (degrees < least)
    count = 0
    while gone.sum() > count:
        count = int(gone.sum())
        left = _degrees(graph, (~gone).astype(np.float64))
        gone |= (degrees > 0) & (left < least)
    return gone


def _degrees(graph: NetworkGraph, counted: Floats) -> Floats:
    """Return the weight at each node of its connections with nodes that are counted, block by block."""
    degrees = np.zeros(len(graph))
    for block in graph.blocks:  # their sums take a fraction of the time that the graph's matrix does
        degrees[block.outputs] += block.weights @ counted[block.inputs]
        degrees[block.inputs] += counted[block.outputs] @ block.weights
    return degrees


def without_units(graph: NetworkGraph, gone: NDArray[np.bool_]) -> NetworkGraph:
    """Return the graph in which some units have no connections; the same one if there are none to take out."""
    if not gone.any():
        return graph
    blocks = tuple(
        replace(block, weights=np.where(gone[block.outputs][:, None] | gone[block.inputs], 0, block.weights))
        for block in graph.blocks
    )
    return replace(graph, blocks=blocks)


def named_units(graph: NetworkGraph, units: NDArray[np.bool_]) -> str:
    """Return the names of units, layer by layer, the first dozen of them.

    Examples
    --------
    >>> import dovetail as dt
    >>> named_units(dt.network_graph([np.ones((3, 4))]), np.array([0, 1, 0, 0, 1, 0, 1], dtype=bool))
    'input 1; layer1 0, 2'
    """
    nodes = np.flatnonzero(units)
    by_layer: dict[str, list[str]] = {}
    for node in nodes[:_MOST_NAMED]:
        layer = graph.groups[graph.group_of[node]].name
        by_layer.setdefault(layer, []).append(str(graph.unit_of[node]))
    text = "; ".join(f"{layer} {', '.join(numbers)}" for layer, numbers in by_layer.items())
    return text if len(nodes) <= _MOST_NAMED else f"{text}; and {len(nodes) - _MOST_NAMED} more"


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
    degrees = _degrees(graph, np.ones(len(graph)))
    found += _threads(graph, degrees, len(sizes))
    found += _faint(degrees)
    clusters = len(np.unique(labels[labels >= 0]))
    if clusters < k:
        found.append(
            f"only {clusters} of {k} clusters were found: some nodes lie so far from the rest that the others look the "
            "same; ask for fewer clusters, or leave those nodes out"
        )
    member = (labels[:, None] == np.arange(k)).astype(np.float64)
    inside, volume = weights_of_clusters(graph.blocks, [block.weights for block in graph.blocks], labels, k)
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


def depth_doubts(depth: Depth) -> list[str]:
    """Return a doubt if the clusters are only bands of depth.

    Examples
    --------
    >>> depth_doubts(Depth(1.0, 0.0, np.zeros(3)))[0]
    'the clusters are bands of depth: which layer a unit is in tells 100% of what its cluster tells; ...
    """
    if not depth.bands:
        return []
    more = ""
    if len(depth.copies) >= ENOUGH:
        found = "no more" if depth.p_value > 0.05 else "more"
        more = f", and within layers they hold together {found} than those of shuffled copies (p = {depth.p_value:.3g})"
    return [
        f"the clusters are bands of depth: which layer a unit is in tells {depth.share:.0%} of what its cluster tells"
        f"{more}; look at a few layers alone (layers=, --layers), or ask for more clusters"
    ]


def _threads(graph: NetworkGraph, degrees: Floats, components: int) -> list[str]:
    """Return a doubt if the graph hangs together only by connections that are next to nothing."""
    kept, thin = [], False
    for block in graph.blocks:
        least = _THREAD * np.minimum(degrees[block.outputs][:, None], degrees[block.inputs])
        thread = (block.weights > 0) & (block.weights < least)
        if thread.any():
            thin = True
            kept.append(np.where(thread, 0, block.weights))
        else:
            kept.append(block.weights)
    count = int(component_of(graph, kept).max(initial=-1)) + 1 if thin else components
    if count <= components:
        return []
    return [
        f"the graph would fall into {count} components without connections that are less than a millionth of what "
        "their ends have in all: cuts there cost almost nothing, so a low n-cut need not mean clusters in the rest"
    ]


def _faint(degrees: Floats) -> list[str]:
    """Return a doubt if some units are dead but for weights that decay has not quite brought to 0."""
    connected = degrees[degrees > 0]
    count = int((connected < _FAINT * np.median(connected)).sum()) if len(connected) else 0
    if not count:
        return []
    return [
        f"{count} units have less than a millionth of the weight that units usually have here (L2 leaves such): they "
        "do nothing, yet clusters are made of them; all_units=False leaves out what does nothing in its layer"
    ]
