"""Clusterability: how well a network falls into clusters, whether chance would do as well, and training for it.

`audit` compares a network with shuffled copies of itself (`clusterability`; `null` has the copies, `doubts` what makes
the numbers doubtful), `lesions` says what the network loses with each cluster, `partition` cuts graphs into clusters,
`promote` trains networks that cluster well.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .audit import Clusterability, Stability, clusterability
    from .lesions import Lesions, lesion
    from .null import Null
    from .partition.ncut import ncut
    from .partition.spectral import spectral_clusters
    from .promote import ClusterabilityPenalty, clusterable_init_, rescale_, train_networks
    from .settings import AuditSettings

# Imported when first asked for: the command line reads `settings` at every start, and needs no torch for that.
_MODULES = {
    "AuditSettings": ".settings",
    "Clusterability": ".audit",
    "ClusterabilityPenalty": ".promote",
    "Lesions": ".lesions",
    "Null": ".null",
    "Stability": ".audit",
    "clusterability": ".audit",
    "clusterable_init_": ".promote",
    "lesion": ".lesions",
    "ncut": ".partition.ncut",
    "rescale_": ".promote",
    "spectral_clusters": ".partition.spectral",
    "train_networks": ".promote",
}

__all__ = [
    "AuditSettings",
    "Clusterability",
    "ClusterabilityPenalty",
    "Lesions",
    "Null",
    "Stability",
    "clusterability",
    "clusterable_init_",
    "lesion",
    "ncut",
    "rescale_",
    "spectral_clusters",
    "train_networks",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
