"""The work behind `modules_meet_clusters`: specialists summed into one network, and the clusters of that network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ...data import load
from ...data.dataset import Dataset
from ...prune import density
from ...specialists import train_specialists
from ...specialists.part import Composite, Part
from ..cluster.data_sizes import data_size
from ..cluster.fewer_samples import first_samples
from ..cluster.measuring import clustering_seconds
from ..unit import Row, Settings
from ..works import Work, Workload
from .clusters_of import cluster_network
from .findings import VIEWS
from .ownership import Floats, Members, favourites, owners, weight_matrices, weight_shares

_TRAINING = (
    "seeds", "rounds", "epochs", "patience", "loss", "temperature", "lr", "batch_size", "monitor", "scope",
)  # fmt: skip
"""Settings that composites and generalists share."""


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
