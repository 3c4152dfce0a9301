"""Clusterability: how well a network falls into clusters, whether chance would do as well, and training for it.

`audit` compares a network with shuffled copies of itself (`clusterability`; `null` has the copies, `doubts` what makes
the numbers doubtful), `lesions` says what the network loses with each cluster, `profiles` which classes each unit
costs, `function` whether clusters tell that, and `alike` which units lead to the same or are needed for the same;
`partition` cuts graphs into clusters, `promote` trains networks that cluster well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .alike import effect_profiles, path_profiles, profile_clusters
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
    "effect_profiles",
    "function_of_clusters",
    "lesion",
    "lesion_profiles",
    "ncut",
    "path_profiles",
    "profile_clusters",
    "rescale_",
    "spectral_clusters",
    "sweep_clusters",
    "train_networks",
]

# The command line reads `settings` at every start, and needs no torch for that.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "alike": ["effect_profiles", "path_profiles", "profile_clusters"],
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
