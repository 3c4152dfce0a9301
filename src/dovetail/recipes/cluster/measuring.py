"""Clusterability of networks, as a list of numbers for each thing measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from torch import Tensor, nn

from ...cluster import Clusterability, clusterability
from ...cluster.settings import Shuffle
from ...errors import unknown_name
from ...graph import NetworkGraph, network_graph
from ...graph.layers import Norm
from ...nets import NetSpec
from ..data import DataSize
from ..unit import plain_numbers

_PARTS = ("whole", "largest")


def measure(
    networks: Sequence[nn.Module],
    example_input: Tensor,
    *,
    k: int,
    shuffles: int,
    shuffle: Shuffle,
    norm: Norm,
    starts: int,
    part: str,
    drop_below: float = 0.0,
    labels: bool = False,
) -> dict[str, Any]:
    """Cluster networks, each beside shuffled copies of itself.

    Parameters
    ----------
    networks : sequence of nn.Module
        Networks of one architecture.
    example_input : Tensor
        A batch that they take.
    k, shuffles, shuffle, norm, starts
        As in `dovetail.clusterability`.
    part : {"whole", "largest"}
        Whether to leave out all but the largest connected part.
    drop_below : float
        Leave out connections that are weaker than this.
    labels : bool
        Add the clusters of the first network, unit by unit, and the names and sizes of its layers.

    Returns
    -------
    dict
        ``ncut``, mean ``dist_ncut`` and deviation ``dist_sd`` of the copies' n-cuts, ``p_value``, ``z_score`` and
        ``components``: a value for each network, None where there is none.
    """
    if part not in _PARTS:
        raise unknown_name("part of a graph", part, _PARTS)
    found = []
    for network in networks:
        graph = network_graph(network, example_input, norm=norm)
        if drop_below:
            graph = strong_part(graph, drop_below)
        if part == "largest":
            graph = largest_part(graph)
        found.append(
            clusterability(
                graph,
                k,
                shuffles,
                shuffle=shuffle,
                all_units=True,
                starts=starts,
                stability=0,
                progress=False,
            )  # all units, as in the paper
        )
    row: dict[str, Any] = measured(found)
    if labels:
        row["labels"] = found[0].labels.tolist()
        row["layers"] = [[group.name, group.size] for group in found[0].graph.groups]
    return row


def measured(found: Sequence[Clusterability]) -> dict[str, Any]:
    """Return what was found of each network, as values that JSON can hold."""
    numbers = {
        "ncut": [one.ncut for one in found],
        "dist_ncut": [one.null_mean for one in found],
        "dist_sd": [one.null_std for one in found],
        "p_value": [one.p_value for one in found],
        "z_score": [one.z_score if len(one.null) else math.nan for one in found],
        "components": [float(one.components) for one in found],
    }
    return {name: plain_numbers(values) for name, values in numbers.items()}


def strong_part(graph: NetworkGraph, least: float) -> NetworkGraph:
    """Return a graph without the connections that are weaker than a number; units that have no others are on their own.

    Examples
    --------
    >>> strong_part(network_graph([np.array([[1.0, 1e-20], [1e-30, 0.5]])]), 1e-12)
    NetworkGraph(4 nodes in 2 groups, 2 edges)
    """
    blocks = [replace(block, weights=block.weights * (block.weights >= least)) for block in graph.blocks]
    return NetworkGraph(graph.groups, tuple(blocks))


def largest_part(graph: NetworkGraph) -> NetworkGraph:
    """Return a graph in which only the largest connected part has connections.

    Examples
    --------
    >>> whole = network_graph([np.array([[1.0, 1, 0], [0, 0, 1]])])
    >>> largest_part(whole)
    NetworkGraph(5 nodes in 2 groups, 2 edges)
    """
    _, part = connected_components(graph.adjacency, directed=False)
    inside = part == np.argmax(np.bincount(part))
    blocks = [
        replace(block, weights=block.weights * np.outer(inside[block.outputs], inside[block.inputs]))
        for block in graph.blocks
    ]
    return NetworkGraph(graph.groups, tuple(blocks))


CLUSTERING_SECONDS = {"small-cnn": 0.02, "vgg11": 0.15, "vgg16": 0.4, "resnet18": 1.1}
"""A core's time to cluster a convolutional network once; those with skip connections take longest."""


def clustering_seconds(net: str, size: DataSize) -> float:
    """Return about how long a core takes to cluster a network, or a shuffled copy, once.

    Examples
    --------
    >>> clustering_seconds("mlp:256-256-256-256", DataSize((1, 28, 28), 10, 60_000))
    0.05
    """
    spec = NetSpec.parse(net)
    if spec.name in CLUSTERING_SECONDS:
        return CLUSTERING_SECONDS[spec.name]
    nodes = math.prod(size.input_shape) + sum(spec.sizes) + size.outputs
    return 0.01 + 0.04 * (nodes / 1818) ** 2
