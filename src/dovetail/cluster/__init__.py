"""How well a network falls into clusters, whether chance would do as well, and how to train for it.

`graph` makes a weighted graph of any network, `partition` cuts it into clusters and measures the n-cut, `promote`
trains networks that cluster well. Beside them: `clusterability` (the network against shuffled copies of itself) and
`lesion` (what the network loses with each cluster).
"""

from __future__ import annotations

from ..graph.graph import Block, Group, NetworkGraph
from ..graph.network_graph import network_graph
from .clusterability import Clusterability, Stability, clusterability
from .lesion import Lesions, lesion
from .null import Null
from .partition.ncut import ncut
from .partition.spectral import spectral_clusters
from .promote import ClusterabilityPenalty, clusterable_init_, rescale_, train_networks

__all__ = [
    "Block",
    "Clusterability",
    "ClusterabilityPenalty",
    "Group",
    "Lesions",
    "NetworkGraph",
    "Null",
    "Stability",
    "clusterability",
    "clusterable_init_",
    "lesion",
    "ncut",
    "network_graph",
    "rescale_",
    "spectral_clusters",
    "train_networks",
]
