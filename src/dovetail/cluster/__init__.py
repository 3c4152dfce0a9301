"""Clusterability: how well a network falls into clusters, whether chance would do as well, and training for it.

`audit` compares a network with shuffled copies of itself (`clusterability`; `null` has the copies, `doubts` what
makes the numbers doubtful), `lesions` says what the network loses with each cluster, `profiles` which classes each
unit costs and `function` whether clusters tell; `partition` cuts graphs into clusters, `promote` trains networks that
cluster well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .audit import Clusterability, Stability, clusterability
    from .function import FunctionOfClusters, function_of_clusters
    from .lesions import Lesions, lesion
    from .null import Null
    from .partition.ncut import ncut
    from .partition.spectral import spectral_clusters
    from .profiles import Profiles, lesion_profiles
    from .promote import ClusterabilityPenalty, clusterable_init_, rescale_, train_networks
    from .settings import AuditSettings
    from .sweep import Sweep, sweep_clusters

__all__ = [
    "AuditSettings",
    "Clusterability",
    "ClusterabilityPenalty",
    "FunctionOfClusters",
    "Lesions",
    "Null",
    "Profiles",
    "Stability",
    "Sweep",
    "clusterability",
    "clusterable_init_",
    "function_of_clusters",
    "lesion",
    "lesion_profiles",
    "ncut",
    "rescale_",
    "spectral_clusters",
    "sweep_clusters",
    "train_networks",
]

# The command line reads `settings` at every start, and needs no torch for that.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "audit": ["Clusterability", "Stability", "clusterability"],
        "function": ["FunctionOfClusters", "function_of_clusters"],
        "lesions": ["Lesions", "lesion"],
        "null": ["Null"],
        "partition.ncut": ["ncut"],
        "partition.spectral": ["spectral_clusters"],
        "profiles": ["Profiles", "lesion_profiles"],
        "promote": ["ClusterabilityPenalty", "clusterable_init_", "rescale_", "train_networks"],
        "settings": ["AuditSettings"],
        "sweep": ["Sweep", "sweep_clusters"],
    },
)
