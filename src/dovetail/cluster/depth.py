"""Depth: how far clusters are only bands of layers, and whether they say more than which layer a unit is in.

A network's layers are connected with their neighbours alone, so its clusters may simply be runs of layers. What is
compared here is what clusters do within layers: the n-cut beside that of units whose layer alone says their cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from sklearn.metrics import homogeneity_score

from ..graph.graph import Floats, Indices, NetworkGraph
from .null import Null
from .partition.ncut import ncut_of_weights
from .partition.operator import run_of

BANDS = 0.9
"""From this share on, clusters are called bands of depth."""


@dataclass(frozen=True, eq=False)
class Depth:
    """How far clusters follow from layers, beside shuffled copies, which have the same layers.

    Attributes
    ----------
    share : float
        Share of what the clusters tell about a unit (their entropy) that its layer tells already: 1 if each layer falls
        into one cluster, 0 if all layers are spread over the clusters alike.
    gain : float
        How much lower the n-cut is than if the units of each layer were in the same clusters by chance.
    copies : float array
        The gains of shuffled copies, each clustered like the network.

    Examples
    --------
    >>> Depth(0.4, 1.0, np.array([0.5, 0.7, 0.6])).p_value
    0.25
    """

    share: float
    gain: float
    copies: Floats

    @property
    def p_value(self) -> float:
        """Share of copies whose clusters gain as much within layers, the network itself counted among them."""
        return Null(-self.gain, -self.copies).p_value

    @property
    def bands(self) -> bool:
        """Whether the clusters are little more than bands of layers."""
        return self.share >= BANDS

    def text(self) -> str:
        """Return in words what the numbers say; nothing where there is one layer or one cluster only."""
        if np.isnan(self.share):
            return ""
        found = f"depth: layers tell {self.share:.0%} of what the clusters tell"
        found += "; they are bands of depth." if self.bands else "."
        found += f" Within layers they lower the n-cut by {self.gain:.3f}"
        if not len(self.copies):
            return f"{found}."
        copies = f"{self.copies.mean():.3f} ± {self.copies.std():.3f}"
        return f"{found}, those of the copies by {copies} (p = {self.p_value:.3g})."


def depth_share(graph: NetworkGraph, labels: Indices) -> float:
    """Return the share of the entropy of clusters that layers tell; not a number with one cluster or layer.

    Examples
    --------
    >>> import dovetail as dt
    >>> graph = dt.network_graph([np.ones((2, 2))])
    >>> depth_share(graph, np.array([0, 0, 1, 1])), round(depth_share(graph, np.array([0, 1, 0, 1])), 6)
    (1.0, 0.0)
    """
    used = labels >= 0
    layers = graph.group_of[used]
    if len(np.unique(layers)) < 2 or len(np.unique(labels[used])) < 2:
        return float("nan")
    return float(homogeneity_score(labels[used], layers))


class WithinLayers:
    """What clusters gain within layers, for one graph with other weights and clusters, again and again."""

    def __init__(self, graph: NetworkGraph, k: int) -> None:
        self._graph, self._k = graph, k
        self._groups = [
            [_places_of_groups(graph.group_of[nodes]) for nodes in (block.outputs, block.inputs)]
            for block in graph.blocks
        ]

    def gain(self, weights: Sequence[Floats], labels: Indices, ncut: float) -> float:
        """Return how much lower an n-cut is than that of clusters with as many units of each layer, taken by chance.

        Every unit of a layer is taken to be in each cluster for the share of the layer's units that are, and each
        connection of a block to weigh the same: so no copies need be drawn.
        """
        counts = np.zeros((len(self._graph.groups), self._k))
        used = labels >= 0
        np.add.at(counts, (self._graph.group_of[used], labels[used]), 1)
        shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
        inside, volume = np.zeros(self._k), np.zeros(self._k)
        for (outs, givens), matrix in zip(self._groups, weights, strict=True):
            for (out, rows), (given, columns) in product(outs, givens):
                weight = matrix[rows][:, columns].sum()
                inside += 2 * weight * shares[out] * shares[given]
                volume += weight * (shares[out] + shares[given])
        return ncut_of_weights(inside, volume) - ncut


def _places_of_groups(group_of: Indices) -> list[tuple[int, slice | Indices]]:
    """Return each group among some nodes, and where its nodes stand."""
    return [(int(group), run_of(np.flatnonzero(group_of == group))) for group in np.unique(group_of)]
