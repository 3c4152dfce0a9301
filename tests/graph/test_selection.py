"""A part of a network: layers, units, heads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import dovetail as dt
from dovetail.errors import DovetailError, SpecError
from dovetail.graph import network_graph

from .networks import Separable, nodes, sizes

NETWORK = dt.build_net("mlp:12-8", (6,), 4, seed=0)
IMAGE = torch.zeros(1, 1, 9, 9)


def test_layers_keep_the_connections_between_them() -> None:
    whole = network_graph(NETWORK)
    names = [group.name for group in whole.groups]
    part = network_graph(NETWORK, layers=names[1:3])
    assert sizes(part) == {names[1]: 12, names[2]: 8}
    at = np.r_[nodes(whole, names[1]), nodes(whole, names[2])]
    np.testing.assert_array_equal(part.adjacency.toarray(), whole.adjacency.toarray()[np.ix_(at, at)])


def test_units_keep_their_numbers() -> None:
    whole = network_graph(NETWORK)
    first, second = whole.groups[1].name, whole.groups[2].name
    part = network_graph(NETWORK, layers=[second], units=[f"{first}:0-2,7,11"])
    assert part.unit_of.tolist() == [0, 1, 2, 7, 11, *range(8)]
    at = np.r_[np.array(nodes(whole, first))[[0, 1, 2, 7, 11]], nodes(whole, second)]
    np.testing.assert_array_equal(part.adjacency.toarray(), whole.adjacency.toarray()[np.ix_(at, at)])


@pytest.mark.parametrize("units", [["grouped:0,3"], ["grouped:0-3"], ["depthwise:1-6", "grouped:1"]])
def test_groups_are_cut_rightly(units: list[str]) -> None:
    whole = network_graph(Separable(), IMAGE)
    torch.manual_seed(0)
    network = Separable()
    whole = network_graph(network, IMAGE)
    part = network_graph(network, IMAGE, layers=["stem", "pointwise"], units=units)
    kept = np.concatenate(
        [np.array(nodes(whole, group.name))[part.unit_of[nodes(part, group.name)]] for group in part.groups]
    )
    np.testing.assert_allclose(part.adjacency.toarray(), whole.adjacency.toarray()[np.ix_(kept, kept)])


def test_a_head_is_named() -> None:
    network = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)
    whole = network_graph(network, torch.zeros(1, 5, 6))
    part = network_graph(network, torch.zeros(1, 5, 6), layers=["linear*"], units=["self_attn head 1"])
    assert part.heads[0].name == "self_attn head 1"
    assert len(part) == 8 + 3 + 3
    assert len(whole.heads) == 2


def test_lesions_of_a_part_are_those_of_the_whole() -> None:
    data = dt.load("digits")
    network = dt.build_net("mlp:12-8", (1, 8, 8), 10, seed=0)
    whole = network_graph(network)
    names = [group.name for group in whole.groups]
    part = network_graph(network, layers=[names[2]], units=[f"{names[1]}:3-5"])
    labels = np.full(len(whole), -1)
    labels[np.array(nodes(whole, names[1]))[3:6]] = 0
    one = dt.lesion(network, labels, data.test, draws=2, progress=False)
    other = dt.lesion(network, [0] * 3 + [-1] * 8, data.test, draws=2, graph=part, progress=False)
    np.testing.assert_allclose(one.drops, other.drops)


@pytest.mark.parametrize(
    ("layers", "units", "says"),
    [
        (["hiden"], None, "unknown layer 'hiden'"),
        ("hidden", None, "a list of names"),
        ([3], None, r"layers is a list of names, such as \['.*'\]; got \[3\]"),
        (None, 3, r"units is a list of names, such as \['.*:0-15'\]; got 3"),
        (None, ["hidden"], r"names no units; write LAYER:0-15.*\(layers: .*hidden1, output\)"),
        (None, ["hidden1:0-12"], "has no unit 12; its last one is 11"),
        ([], [], "no layer and no unit is named"),
    ],
)
def test_what_is_not_there_is_named(layers: Any, units: Any, says: str) -> None:
    network = nn.Sequential()
    network.add_module("hidden1", nn.Linear(6, 12))
    network.add_module("output", nn.Linear(12, 3))
    with pytest.raises((SpecError, DovetailError), match=says):
        network_graph(network, layers=layers, units=units)


def test_a_network_of_zeros_is_called_so() -> None:
    zeros = [np.zeros((5, 4)), np.zeros((3, 5))]
    with pytest.raises(SpecError, match="all weights are 0"):
        dt.clusterability(zeros, k=2, shuffles=2, progress=False)
    with pytest.raises(SpecError, match="has no connections"):  # not for want of weights
        dt.clusterability([np.ones((5, 4))], k=2, layers=["input"], shuffles=2, progress=False)
