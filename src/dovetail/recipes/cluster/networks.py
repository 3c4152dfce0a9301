"""The work that most recipes of the Clusterability paper do: train networks, prune them, measure their clusters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from ...cluster import train_networks
from ...cluster.promote.initialise import clusterable_weights
from ...cluster.promote.spec import settled_builder
from ...cluster.promote.train import Stage
from ...data import load
from ...data.dataset import Dataset
from ...population import Population, Scores
from ..data import data_size, first_samples
from ..unit import Row, Settings, plain_numbers
from ..works import Work, Workload
from .augmentation import turned_shifted_mirrored
from .conditions import SETTINGS
from .measuring import clustering_seconds, measure

CPU = torch.device("cpu")

_PENALTY_STEP_SECONDS = 0.003
"""A step with the clusterability penalty, of each network, on a core."""


def run(settings: Settings, device: torch.device) -> Row:
    """Train the networks and measure them.

    Returns
    -------
    dict
        For each stage that was asked for its ``measures``, one entry for each of the settings', with a value for each
        network. For ``unpruned`` and ``pruned`` always what the networks score on ``train`` and ``test`` data, and
        their ``sparsity``.
    """
    data = first_samples(load(settings["data"]), settings["samples"])
    example = data.train.x[:1]
    row: Row = {}
    if "initial" in settings["stages"]:
        row["initial"] = {"measures": _measures(_initial_networks(data, settings), example, settings)}
    if set(settings["stages"]) == {"initial"}:
        return row
    for name, stage in _trained_stages(data, settings, device):
        row[name] = {
            "train": _scores(stage.train),
            "test": _scores(stage.test),
            "sparsity": plain_numbers(stage.sparsity.tolist()),
        }
        if name in settings["stages"]:
            networks = [stage.population.member(place) for place in range(len(stage.population))]
            row[name]["measures"] = _measures(networks, example, settings)
    return row


def workload(settings: Settings) -> Workload:
    """Return how much work the networks are."""
    size = data_size(settings["data"])
    samples = min(settings["samples"] or size.samples, size.samples)
    seeds = len(settings["seeds"])
    clusterings = sum(1 + made["shuffles"] for made in settings["measures"]) * len(settings["stages"])
    core_seconds = seeds * clusterings * clustering_seconds(settings["net"], size)
    if set(settings["stages"]) == {"initial"}:
        return Workload(core_seconds=core_seconds)
    epochs = settings["epochs"] + settings["pruning_epochs"]
    steps = epochs * math.ceil(samples / settings["batch_size"])
    if settings["penalty"]:
        return Workload(core_seconds=core_seconds + seeds * steps * _PENALTY_STEP_SECONDS)
    return Workload(
        settings["net"], size.input_shape, size.outputs, seeds, steps, settings["batch_size"], core_seconds
    )


def label(settings: Settings) -> str:
    """Return which networks these are: all in which they are not the paper's plain ones."""
    names = ("samples", "epochs", "dropout", "l1", "l2", "init_beta", "penalty", "penalty_k")
    changed = [f"{name} {settings[name]}" for name in names if settings[name] != SETTINGS[name]]
    changed += [f"slip {slip}" for slip in settings.get("slips", ())]
    seeds = f"seeds {settings['seeds'][0]} to {settings['seeds'][-1]}"
    return ", ".join(
        [settings["data"], settings["net"], *changed, *["augmented"] * settings["augment"], seeds]
    )


WORK = Work(run, workload, label)


def _initial_networks(data: Dataset, settings: Settings) -> list[nn.Module]:
    """Return the networks as `train_networks` starts with them."""
    seeds = settings["seeds"]
    population = Population(settled_builder(settings["net"], data, settings["dropout"]), seeds, device=CPU)
    if settings["init_beta"] != 1:
        betas = torch.full((len(seeds),), settings["init_beta"], dtype=torch.float64)
        population.start_from(clusterable_weights(population.params, seeds, settings["init_clusters"], betas))
    return [population.member(place) for place in range(len(seeds))]


def _trained_stages(data: Dataset, settings: Settings, device: torch.device) -> Iterator[tuple[str, Stage]]:
    return train_networks(
        data, settings["net"], seeds=settings["seeds"], epochs=settings["epochs"],
        pruning_epochs=settings["pruning_epochs"], batch_size=settings["batch_size"],
        dropout=settings["dropout"], l1=settings["l1"], l2=settings["l2"],
        clusterability=settings["penalty"], k=settings["penalty_k"], init_beta=settings["init_beta"],
        clusters=settings["init_clusters"], lr=settings["lr"], initial_sparsity=settings["pruning"]["from"],
        final_sparsity=settings["pruning"]["to"], prune_every=settings["pruning"]["every"],
        augment=turned_shifted_mirrored if settings["augment"] else None, slips=settings.get("slips", ()),
        # The penalty's eigenvalues are found on the CPU only.
        device=CPU if settings["penalty"] else device, progress=False,
    ).stages()  # fmt: skip


def _measures(networks: list[nn.Module], example: torch.Tensor, settings: Settings) -> list[dict[str, Any]]:
    return [
        measure([network.cpu() for network in networks], example.cpu(), labels=settings["labels"], **made)
        for made in settings["measures"]
    ]


def _scores(scores: Scores) -> dict[str, list[float | None]]:
    return {name: plain_numbers(values.tolist()) for name, values in scores.values.items()}
