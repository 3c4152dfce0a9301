"""Convolutions in groups that read a node twice, or make it twice."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import dovetail as dt
from dovetail.cluster.partition.spectral import Spectra
from dovetail.graph import network_graph

from ..cluster.graphs import dense_spectrum
from .networks import (
    GatedGroups,
    Inception,
    RepeatedDepthwise,
    ResidualMLP,
    Separable,
    TwiceInGroups,
    adjacency,
    kernel_sums,
    nodes,
)

IMAGE = torch.zeros(1, 3, 9, 9)


@pytest.mark.parametrize("build", [TwiceInGroups, RepeatedDepthwise, GatedGroups])
@pytest.mark.parametrize("convention", ["mlp", "cnn"])
def test_the_spectrum_is_that_of_a_dense_solver(build: type[nn.Module], convention: str) -> None:
    torch.manual_seed(0)
    graph = network_graph(build(), IMAGE, convention=convention)  # type: ignore[arg-type]
    expected, _ = dense_spectrum(graph.adjacency.toarray())
    found = Spectra(graph).of([block.weights for block in graph.blocks], 6)
    np.testing.assert_allclose(found.values, expected[:6], atol=1e-10)


def test_each_group_reads_all_channels_that_stand_side_by_side_twice() -> None:
    network = TwiceInGroups()
    graph = network_graph(network, IMAGE)
    first, grouped, last = (nodes(graph, name) for name in ("first", "grouped", "last"))
    # Outputs 0 to 3 read the first copy, 4 to 7 the second: both are the same nodes.
    blocks = [(grouped, first, kernel_sums(network.grouped)), (last, grouped, kernel_sums(network.last))]
    np.testing.assert_allclose(graph.adjacency.toarray(), adjacency(len(graph), blocks))
    assert [(block.name, block.groups) for block in graph.blocks] == [
        ("grouped", 1),
        ("grouped", 1),
        ("last", 1),
    ]


def test_a_repeated_channel_leads_to_both_of_its_outputs() -> None:
    network = RepeatedDepthwise()
    graph = network_graph(network, IMAGE)
    weights = np.zeros((12, 6))
    weights[np.arange(12), np.arange(12) % 6] = kernel_sums(network.depthwise)[:, 0]
    depthwise = nodes(graph, "depthwise")
    np.testing.assert_allclose(graph.adjacency.toarray()[np.ix_(depthwise, nodes(graph, "first"))], weights)


@pytest.mark.parametrize(
    ("network", "shape"),
    [
        (TwiceInGroups(), (3, 9, 9)),
        (RepeatedDepthwise(), (3, 9, 9)),
        (GatedGroups(), (3, 9, 9)),
        (Inception(), (2, 9, 9)),
        (Separable(), (1, 9, 9)),
        (ResidualMLP(), (5,)),
        (dt.build_net("resnet18", (3, 16, 16), 10), (3, 16, 16)),
        (dt.build_net("small-cnn", (1, 8, 8), 10), (1, 8, 8)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_block_has_a_node_twice(network: nn.Module, shape: tuple[int, ...]) -> None:
    for block in network_graph(network, torch.zeros(1, *shape), convention="mlp").blocks:
        assert len(np.unique(block.outputs)) == len(block.outputs)
        assert len(np.unique(block.inputs)) == len(block.inputs)
        assert block.weights.shape == (len(block.outputs), len(block.inputs))
