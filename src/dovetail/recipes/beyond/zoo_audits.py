"""The work of auditing a network of the zoo: its clusters, their depth, and what the network loses with each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from ...cluster import Clusterability, clusterability, lesion
from ...cluster.null import has_failed
from ..data import load_named
from ..unit import Row, Settings, plain_numbers
from ..works import Work, Workload
from .zoo_networks import ZOO, zoo_network

if TYPE_CHECKING:
    from ...cluster import Lesions

_SECONDS = {
    "efficientnet-lite2": 3.0, "efficientnet-lite1": 2.5, "efficientnet-lite0": 1.8, "text-lines": 2.0,
    "minilm": 0.9, "reactions": 0.8, "pronunciation": 0.8, "text-directions": 0.4,
}  # fmt: skip
_OTHERS_SECONDS = 0.1
"""A core's time to cluster one copy of a network."""
_LESION_SECONDS = 3e-3
"""A core's time for one picture, without some units of a ResNet-20."""


def run(settings: Settings, device: torch.device) -> Row:
    """Audit one network, on the CPU: nothing trains.

    Returns
    -------
    dict
        ``nodes``, ``layers``, ``edges``; ``ncut``, its null (``copies``) and what follows from it; ``failed``, whether
        the clustering is plainly not the one to look for; ``depth``; ``composition``, units by cluster and layer; and
        ``lesions``, None where there is no data.
    """
    known, network = zoo_network(settings["network"])
    graph = known.graph(network)
    found = clusterability(
        graph, settings["k"], settings["shuffles"], seed=settings["seed"], stability=settings["stability"],
        progress=False,
    )  # fmt: skip
    lesions = None
    if (how := settings["lesions"]) is not None:
        assert isinstance(network, nn.Module)
        cut = clusterability(graph, how["k"], 0, seed=settings["seed"], stability=0, progress=False)
        split = load_named(how["data"]).test
        order = torch.randperm(len(split), generator=torch.Generator().manual_seed(settings["seed"]))
        samples = known.scaled(split.where(order[: how["samples"]]))
        lesions = lesion(network, cut, samples, draws=how["draws"], seed=settings["seed"], progress=False)
    return {**_audit(found), "edges": graph.adjacency.nnz // 2, "lesions": lesions and _lesions(lesions)}


def _audit(found: Clusterability) -> dict[str, Any]:
    low, high = found.z_range
    numbers = {
        "ncut": found.ncut, "dist_ncut": found.null_mean, "dist_sd": found.null_std, "p_value": found.p_value,
        "z_score": found.z_score, "z_low": low, "z_high": high, "lower_by": found.lower_by,
        "agreement": found.stability.agreement, "least": float(found.eigenvalues.sum()),
    }  # fmt: skip
    depth = {
        "share": found.depth.share, "gain": found.depth.gain, "dist_gain": float(found.depth.copies.mean()),
        "gain_sd": float(found.depth.copies.std()), "p_value": found.depth.p_value,
    }  # fmt: skip
    return {
        "nodes": len(found.graph),
        "layers": len(found.graph.groups),
        **dict(zip(numbers, plain_numbers(numbers.values()), strict=True)),
        "failed": has_failed(found.ncut, found.eigenvalues),
        "components": found.components,
        "left_out": len(found.negligible),
        "depth": dict(zip(depth, plain_numbers(depth.values()), strict=True)),
        "composition": found.composition().to_numpy().tolist(),
    }


def _lesions(lesions: Lesions) -> dict[str, Any]:
    return {
        "accuracy": round(lesions.accuracy, 6),
        "drops": plain_numbers(lesions.drops),
        "random_drops": plain_numbers(lesions.random_drops.mean(1)),
        "random_sd": plain_numbers(lesions.random_drops.std(1)),
        "p_values": plain_numbers(lesions.p_values),
    }


def workload(settings: Settings) -> Workload:
    """Return how much work the clusterings and lesions are."""
    each = _SECONDS.get(settings["network"], _OTHERS_SECONDS)
    seconds = (1 + settings["shuffles"]) * each
    if (how := settings["lesions"]) is not None:
        seconds += (how["k"] * (how["draws"] + 1) + 1) * how["samples"] * _LESION_SECONDS
    return Workload(core_seconds=seconds)


def label(settings: Settings) -> str:
    """Return which network this is."""
    return ZOO[settings["network"]].title


WORK = Work(run, workload, label)
