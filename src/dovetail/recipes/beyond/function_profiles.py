"""The work of comparing clusters by weights with what units do: which classes their removal costs."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from ...cluster import Profiles, clusterability, function_of_clusters, lesion_profiles
from ...data import Dataset, Split
from ...errors import SpecError
from ...graph import NetworkGraph, network_graph
from ...nets import build_net
from ...population import Population
from ..data import data_size, load_named
from ..unit import Row, Settings, plain_numbers
from ..works import Work, Workload
from .zoo_networks import ZOO, zoo_network

_VARIANT_SECONDS = {"resnet20": 3e-3}
_OTHERS_SECONDS = 1e-4
"""A core's time for one sample, without one unit."""
_UNITS = 800
"""Of a network, for estimates."""


def run(settings: Settings, device: torch.device) -> Row:
    """Measure profiles of networks from the zoo, or of such as are trained here, and compare them with their clusters.

    Returns
    -------
    dict
        ``accuracies``, one for each network; and ``found``, for each network and number of clusters what layers and
        clusters explain, with p-values; of heads too where the network has some.
    """
    found, accuracies = [], []
    for network, split in _networks(settings, device):
        graph = network_graph(network, split.x[:1])
        with torch.no_grad():
            right = [
                network(x).argmax(1) == y for x, y in zip(split.x.split(256), split.y.split(256), strict=True)
            ]
        accuracies.append(float(torch.cat(right).float().mean()))
        kinds = {"units": lesion_profiles(network, split, graph=graph, progress=False)}
        if graph.heads:
            kinds["heads"] = lesion_profiles(network, split, graph=graph, remove="heads", progress=False)
        found.append([_compared(graph, profiles, of, settings) for of, profiles in kinds.items()])
    return {"accuracies": plain_numbers(accuracies), "found": found}


def _compared(graph: NetworkGraph, profiles: Profiles, of: str, settings: Settings) -> Row:
    """Return by number of clusters what profiles say of clusters; None where all units are in one."""
    by_k: dict[str, Row | None] = {}
    for k in settings["k"]:
        clusters = clusterability(graph, k, 0, stability=0, seed=settings["seed"], progress=False)
        try:
            beside = function_of_clusters(
                profiles, clusters, permutations=settings["permutations"], seed=settings["seed"]
            )
        except SpecError:  # of few heads all may be in one cluster
            by_k[str(k)] = None
            continue
        numbers = {
            "by_layers": beside.by_layers, "by_clusters": beside.by_clusters, "by_both": beside.by_both,
            "within": float(beside.within_layers.mean()), "within_sd": float(beside.within_layers.std()),
            "p_value": beside.p_value, "p_anywhere": beside.p_anywhere, "agreement": beside.agreement,
            "chance_agreement": float(beside.chance_agreement.mean()), "p_agreement": beside.p_agreement,
            "share": clusters.depth.share,
        }  # fmt: skip
        by_k[str(k)] = {
            "units": beside.units,
            **dict(zip(numbers, plain_numbers(numbers.values()), strict=True)),
        }
    return {"of": of, "reliability": plain_numbers([profiles.reliability])[0], "by_k": by_k}


def _networks(settings: Settings, device: torch.device) -> Iterator[tuple[nn.Module, Split]]:
    """Give each network with the samples that it is measured on."""
    data = load_named(settings["data"])
    order = torch.randperm(len(data.test), generator=torch.Generator().manual_seed(settings["seed"]))
    split = data.test.where(order[: settings["samples"]])
    if settings["network"] in ZOO:
        known, network = zoo_network(settings["network"])
        assert isinstance(network, nn.Module)
        yield network, known.scaled(split)
        return
    for network in _trained(data, settings, device):
        yield network.cpu().eval(), split


def _trained(data: Dataset, settings: Settings, device: torch.device) -> list[nn.Module]:
    training = settings["training"]
    seeds = training["seeds"]
    population = Population(
        lambda: build_net(settings["network"], data.input_shape, data.outputs), seeds, device=device
    )
    order = torch.randperm(len(data.train), generator=torch.Generator().manual_seed(settings["seed"]))
    seen = data.train.where(order[: training["samples"]])
    population.fit(
        seen,
        data.val,
        task="classes",
        epochs=training["epochs"],
        batch_size=training["batch_size"],
        progress=False,
    )
    return [population.member(number) for number in range(len(seeds))]


def workload(settings: Settings) -> Workload:
    """Return how much work training and removing are."""
    each = _VARIANT_SECONDS.get(settings["network"], _OTHERS_SECONDS)
    training = settings["training"]
    networks = len(training["seeds"]) if training else 1
    measuring = networks * _UNITS * settings["samples"] * each
    if not training:
        return Workload(core_seconds=measuring)
    size = data_size(settings["data"]["name"])
    steps = training["epochs"] * -(-training["samples"] // training["batch_size"])
    return Workload(
        settings["network"],
        size.input_shape,
        size.outputs,
        networks,
        steps,
        training["batch_size"],
        measuring,
    )


def label(settings: Settings) -> str:
    """Return which network, and on which data."""
    return f"{settings['network']} on {settings['data']['name']}"


WORK = Work(run, workload, label)
