"""Composite clusters: the work of summing specialists into one network, and of finding the clusters of that network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ...cluster import clusterability, ncut, spectral_clusters
from ...cluster.null import Shuffles
from ...cluster.settings import Shuffle
from ...data import load
from ...data.dataset import Dataset
from ...graph import NetworkGraph, network_graph
from ...prune import density
from ...specialists import train_specialists
from ...specialists.composite import Composite
from ...specialists.part import Part
from ..cluster.measuring import clustering_seconds
from ..data import data_size, first_samples
from ..unit import Row, Settings
from ..works import Work, Workload
from .findings import VIEWS
from .unit_owners import Floats, Members, agreement, favourites, owners, rand, weight_matrices, weight_shares

_TRAINING = (
    "seeds", "rounds", "epochs", "patience", "loss", "temperature", "lr", "batch_size", "monitor", "scope",
)  # fmt: skip
"""Settings that composites and generalists share."""


_COPIES: Mapping[str, Shuffle] = {"copies": "layer", "pattern copies": "layer-nonzero"}


def run(settings: Settings, device: torch.device) -> Row:
    """Train specialists, one for each class, and a generalist with as many weights as their sum; cluster both.

    Returns
    -------
    dict
        For ``composite`` and ``generalist``: ``accuracy``, ``density`` (of all weights together) and each of the views
        in `cluster_network`, with a value for each seed; for the composite also ``purity``: the owner's share of the
        weight at a hidden unit, on average. A generalist's units have no owners.
    """
    data = first_samples(load(settings["data"]), settings["samples"])
    common = {
        "device": device, "progress": False, **{name: settings[name] for name in _TRAINING},
    }  # fmt: skip
    team = train_specialists(
        data,
        settings["net"],
        slots=settings["slots"],
        sparsity=settings["sparsity"],
        output_share=settings["output_share"],
        **common,
    )
    composites = [Composite(team.of_seed(seed)) for seed in settings["seeds"]]
    shares = [_shares(composite) for composite in composites]
    pruned = round(float(np.mean([1 - _density(composite) for composite in composites])), 3)
    # Sums of sparse specialists have nearly all weights of the output layer, so the generalist keeps those.
    generalists = train_specialists(
        data, settings["net"], [range(data.outputs)], sparsity=pruned, output_share=0.0, **common
    )
    return {
        "composite": {
            "purity": [_purity(share) for share in shares],
            **_study(composites, [{"owner": owners(share)} for share in shares], data, settings, device),
        },
        "generalist": _study(generalists, [{} for _ in generalists], data, settings, device),
    }


def workload(settings: Settings) -> Workload:
    """Return how much work the specialists are; generalists and clusters come on top."""
    size = data_size(settings["data"])
    seeds = len(settings["seeds"])
    samples = min(settings["samples"] or size.samples, size.samples)
    epochs = settings["epochs"] * (1 if settings["slots"] else 2)  # pruning rounds take as long again
    clusterings = 1 + settings["shuffles"] + 2 * settings["copies"]
    core_seconds = 2 * seeds * len(VIEWS) * clusterings * clustering_seconds(settings["net"], size)
    return Workload(
        net=settings["net"], input_shape=size.input_shape, outputs=size.outputs,
        members=seeds * (size.outputs + 1), steps=epochs * math.ceil(0.8 * samples / settings["batch_size"]),
        batch_size=settings["batch_size"],
        core_seconds=core_seconds,
    )  # fmt: skip


def label(settings: Settings) -> str:
    """Return which composites these are."""
    kind = "in slots" if settings["slots"] else f"{settings['sparsity']:.0%} pruned"
    return f"{settings['data']}, {settings['net']}, {kind}"


WORK = Work(run, workload, label)


def _study(
    networks: Sequence[Part],
    memberships: Sequence[Mapping[str, Sequence[Members]]],
    data: Dataset,
    settings: Settings,
    device: torch.device,
) -> dict[str, Any]:
    rows = []
    for network, known in zip(networks, memberships, strict=True):
        liked = favourites(network.module(), data.test, data.outputs)
        rows.append(
            {
                "accuracy": network.evaluate(data.test, device=device).rewarded_accuracy,
                "density": _density(network),
                **cluster_network(
                    weight_matrices(network.state_dict()), {**known, "favourite": liked}, settings
                ),
            }
        )
    made: dict[str, Any] = _by_name(rows)
    return made


def _shares(composite: Composite) -> list[Floats]:
    return weight_shares([weight_matrices(member.state_dict()) for member in composite.specialists])


def _purity(shares: Sequence[Floats]) -> float:
    largest = np.concatenate([share.max(0)[share.any(0)] for share in shares[1:-1]])
    return round(float(largest.mean()), 6)


def _density(network: Part) -> float:
    return density({name: tensor for name, tensor in network.state_dict().items() if tensor.dim() == 2})


def _by_name(rows: Sequence[Any]) -> Any:
    """Turn one entry for each seed, with values by name, into values by name with one entry for each seed."""
    if isinstance(rows[0], Mapping):
        return {name: _by_name([row[name] for row in rows]) for name in rows[0]}
    return [round(row, 6) if isinstance(row, float) else row for row in rows]


def cluster_network(
    matrices: Sequence[Floats], memberships: Mapping[str, Sequence[Members]], settings: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Cluster a network into as many clusters as it has outputs, and compare with memberships of its units.

    Parameters
    ----------
    matrices : sequence of array
        Weights ``[outputs, inputs]``, first layer first.
    memberships : mapping
        Names and, for each layer of nodes, the class of each node; inputs count only for the n-cut.
    settings : mapping
        ``shuffles``, ``copies`` and ``permutations``: how many shuffled networks give the null of the n-cut, how many
        the null of the agreement, and how many permuted memberships.

    Returns
    -------
    dict
        For each of `VIEWS`: ``ncut``, its null (``dist_ncut``, ``dist_sd``, ``p_value``), ``components``, ``units``
        (hidden ones that have connections). And by the name of each membership, over those units: the adjusted Rand
        index (``agreement``; ``layers``: within each layer), its mean and p-value over memberships permuted within
        layers (``permuted``, ``p_value``), its mean over clusters of shuffled networks (``copies``; ``pattern copies``
        keep which weights are 0), the n-cut of the membership itself (``ncut``), and how many units of each class are
        in each cluster (``counts``).
    """
    found: dict[str, dict[str, Any]] = {}
    for view, first in VIEWS.items():
        graph = network_graph(list(matrices[first:]))
        k = len(matrices[-1])
        cut = clusterability(graph, k, settings["shuffles"], all_units=True, stability=0, progress=False)
        layer = graph.group_of + first
        hidden = (layer > 0) & (layer < len(matrices)) & (cut.labels >= 0)
        copies = {name: _copies(graph, how, k, settings["copies"]) for name, how in _COPIES.items()}
        found[view] = {
            "ncut": cut.ncut,
            "dist_ncut": cut.null_mean,
            "dist_sd": cut.null_std,
            "p_value": cut.p_value,
            "components": cut.components,
            "units": int(hidden.sum()),
        }
        for name, members in memberships.items():
            placed = np.concatenate(members[first:])
            found[view][name] = {
                **_compare(cut.labels[hidden], placed[hidden], layer[hidden], settings["permutations"]),
                **{kind: _mean_rand(labels, placed, hidden) for kind, labels in copies.items()},
                "ncut": ncut(graph, np.where(cut.labels >= 0, placed, -1)),
            }
    return found


def _compare(labels: Members, members: Members, layer: Members, permutations: int) -> dict[str, Any]:
    own = agreement(labels, members, layer, permutations=permutations)
    return {
        "agreement": own.all,
        "layers": [round(value, 6) for value in own.layers],
        "permuted": own.permuted,
        "p_value": own.p_value,
        "counts": _counts(members, labels).tolist(),
    }


def _copies(graph: NetworkGraph, how: Shuffle, k: int, count: int) -> list[Members]:
    """Return the clusters of shuffled copies of a network."""
    shuffles = Shuffles(graph, how)
    found = []
    for number in range(count):
        weights = shuffles.draw(np.random.default_rng((0, number)))
        blocks = [replace(block, weights=other) for block, other in zip(graph.blocks, weights, strict=True)]
        found.append(spectral_clusters(NetworkGraph(graph.groups, tuple(blocks)), k, seed=number))
    return found


def _mean_rand(copies: Sequence[Members], members: Members, hidden: NDArray[np.bool_]) -> float:
    return float(np.mean([rand(labels[hidden], members[hidden]) for labels in copies]))


def _counts(members: Members, labels: Members) -> Members:
    """Return how many units each class has in each cluster, ``[classes, clusters]``."""
    known = members >= 0
    counts = np.zeros((members.max() + 1, labels.max() + 1), dtype=np.int64)
    np.add.at(counts, (members[known], labels[known]), 1)
    return counts
