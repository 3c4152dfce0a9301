"""Neural networks made of parts that fit.

The names below, and those that `errors` and the folders `data`, `nets`, `graph`, `prune`, `population`, `specialists`,
`sculpting`, `cluster`, `recipes`, `engine`, `report` and `studio` export, are the public surface; everything else may
change between versions. They are imported on first use, so that ``import dovetail`` (and ``dovetail --help``) does not
wait for torch.

Examples
--------
>>> import dovetail as dt
>>> dt.load("digits").outputs
10
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._version import __version__
from .errors import DovetailError

if TYPE_CHECKING:
    from .cluster import (
        Clusterability,
        ClusterabilityPenalty,
        Lesions,
        clusterability,
        clusterable_init_,
        lesion,
        ncut,
        rescale_,
        spectral_clusters,
        train_networks,
    )
    from .data import BooleanTask, Dataset, Split, boolean_task, load
    from .engine import reproduce
    from .graph import NetworkGraph, network_graph
    from .nets import build_net, net_builder
    from .opening import open_saved as open
    from .population import Population, recompute_batch_norm
    from .sculpting import Hierarchy, Sculpture, detect_modules, sculpt, sculpt_seeds
    from .specialists import Composite, Specialist, compatibility, compose, connectivity, train_specialists

_HOMES = {
    "BooleanTask": "data",
    "Clusterability": "cluster",
    "ClusterabilityPenalty": "cluster",
    "Composite": "specialists",
    "Dataset": "data",
    "Hierarchy": "sculpting",
    "Lesions": "cluster",
    "NetworkGraph": "graph",
    "Population": "population",
    "Specialist": "specialists",
    "Split": "data",
    "Sculpture": "sculpting",
    "boolean_task": "data",
    "build_net": "nets",
    "clusterability": "cluster",
    "clusterable_init_": "cluster",
    "compatibility": "specialists",
    "compose": "specialists",
    "connectivity": "specialists",
    "detect_modules": "sculpting",
    "lesion": "cluster",
    "load": "data",
    "ncut": "cluster",
    "net_builder": "nets",
    "network_graph": "graph",
    "open": "opening",
    "recompute_batch_norm": "population",
    "reproduce": "engine",
    "rescale_": "cluster",
    "sculpt": "sculpting",
    "sculpt_seeds": "sculpting",
    "spectral_clusters": "cluster",
    "train_networks": "cluster",
    "train_specialists": "specialists",
}

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
    "__version__",
    "boolean_task",
    "build_net",
    "clusterability",
    "clusterable_init_",
    "compatibility",
    "compose",
    "connectivity",
    "detect_modules",
    "lesion",
    "load",
    "ncut",
    "net_builder",
    "network_graph",
    "open",
    "recompute_batch_norm",
    "reproduce",
    "rescale_",
    "sculpt",
    "sculpt_seeds",
    "spectral_clusters",
    "train_networks",
    "train_specialists",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'dovetail' has no attribute {name!r}")
    # In its file `open` is called open_saved, so as not to hide Python's own there.
    name_at_home = "open_saved" if name == "open" else name
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name_at_home)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
