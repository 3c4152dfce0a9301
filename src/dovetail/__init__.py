"""Neural networks made of parts that fit.

The names below, and those that `errors` and the folders `data`, `nets`, `graph`, `prune`, `population`, `planted`,
`trunks`, `specialists`, `sculpting`, `cluster`, `recipes`, `engine`, `report` and `studio` export, are the public
surface; everything else may change between versions. They are imported on first use, so that ``import dovetail`` (and
``dovetail --help``) does not wait for torch.

Examples
--------
>>> import dovetail as dt
>>> dt.load("digits").outputs
10
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._version import __version__
from .errors import DovetailError
from .lazy import lazy_names

if TYPE_CHECKING:
    from .cluster import (
        Clusterability,
        ClusterabilityPenalty,
        Lesions,
        clusterability,
        clusterable_init_,
        function_of_clusters,
        lesion,
        lesion_profiles,
        ncut,
        rescale_,
        spectral_clusters,
        sweep_clusters,
        train_networks,
    )
    from .data import BooleanTask, Dataset, Split, boolean_task, load, read
    from .engine import reproduce
    from .graph import NetworkGraph, network_graph
    from .nets import build_net, net_builder
    from .opening import open_saved as open
    from .population import Population, recompute_batch_norm
    from .sculpting import Hierarchy, Sculpture, detect_modules, sculpt, sculpt_channels, sculpt_seeds
    from .specialists import (
        Composite,
        Specialist,
        Sums,
        as_part,
        combine,
        compatibility,
        compose,
        connectivity,
        sums,
        train_specialists,
    )
    from .trunks import Trunk, trunk

__all__ = [
    "BooleanTask",
    "Clusterability",
    "ClusterabilityPenalty",
    "Composite",
    "Dataset",
    "DovetailError",
    "Hierarchy",
    "Lesions",
    "NetworkGraph",
    "Population",
    "Sculpture",
    "Specialist",
    "Split",
    "Sums",
    "Trunk",
    "__version__",
    "as_part",
    "boolean_task",
    "build_net",
    "clusterability",
    "clusterable_init_",
    "combine",
    "compatibility",
    "compose",
    "connectivity",
    "detect_modules",
    "function_of_clusters",
    "lesion",
    "lesion_profiles",
    "load",
    "ncut",
    "net_builder",
    "network_graph",
    "open",
    "read",
    "recompute_batch_norm",
    "reproduce",
    "rescale_",
    "sculpt",
    "sculpt_channels",
    "sculpt_seeds",
    "spectral_clusters",
    "sums",
    "sweep_clusters",
    "train_networks",
    "train_specialists",
    "trunk",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "cluster": [
            "Clusterability",
            "ClusterabilityPenalty",
            "Lesions",
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
        ],
        "data": ["BooleanTask", "Dataset", "Split", "boolean_task", "load", "read"],
        "engine": ["reproduce"],
        "graph": ["NetworkGraph", "network_graph"],
        "nets": ["build_net", "net_builder"],
        "opening": ["open_saved as open"],
        "population": ["Population", "recompute_batch_norm"],
        "sculpting": [
            "Hierarchy",
            "Sculpture",
            "detect_modules",
            "sculpt",
            "sculpt_channels",
            "sculpt_seeds",
        ],
        "specialists": [
            "Composite",
            "Specialist",
            "Sums",
            "as_part",
            "combine",
            "compatibility",
            "compose",
            "connectivity",
            "sums",
            "train_specialists",
        ],
        "trunks": ["Trunk", "trunk"],
    },
)
