"""Embeddings: tokens are units; weights that are used twice stay the same in shuffled copies."""

from __future__ import annotations

from typing import get_args

import numpy as np
import torch
from torch import Tensor, nn

from dovetail.cluster.null import Shuffles
from dovetail.cluster.settings import Shuffle
from dovetail.graph import network_graph

from .networks import absolute, nodes, sizes

IDS = torch.zeros(2, 5, dtype=torch.long)


class Language(nn.Module):
    """Tokens in, tokens out, with one matrix for both."""

    def __init__(self, *, tied: bool = True) -> None:
        super().__init__()
        self.embed = nn.Embedding(9, 6)
        self.norm = nn.LayerNorm(6)
        self.inner, self.outer = nn.Linear(6, 8), nn.Linear(8, 6)
        self.head = nn.Linear(6, 9, bias=False)
        if tied:
            self.head.weight = self.embed.weight

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids)
        x = x + self.outer(self.inner(x).relu())
        out: Tensor = self.head(self.norm(x))
        return out


def test_tokens_are_units_and_their_numbers_are_not() -> None:
    network = Language(tied=False)
    graph = network_graph(network, IDS)
    assert sizes(graph) == {"embed:tokens": 9, "embed": 6, "inner": 8, "head": 9}
    block = graph.blocks[0]
    np.testing.assert_allclose(block.weights, absolute(network.embed).T)
    assert block.inputs.tolist() == nodes(graph, "embed:tokens")


def test_tokens_one_by_one_are_the_same() -> None:
    class OneHot(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Linear(9, 6, bias=False)

        def forward(self, ids: Tensor) -> Tensor:
            out: Tensor = self.embed(nn.functional.one_hot(ids, 9).float())
            return out

    network = OneHot()
    graph = network_graph(network, IDS)
    assert sizes(graph) == {"tokens": 9, "embed": 6}
    np.testing.assert_allclose(graph.blocks[0].weights, absolute(network.embed))


def test_a_bag_of_tokens_is_read_alike() -> None:
    torch.manual_seed(0)
    bag = nn.EmbeddingBag(9, 6)
    graph = network_graph(nn.Sequential(bag, nn.Linear(6, 3)), IDS)
    assert sizes(graph) == {"0:tokens": 9, "0": 6, "1": 3}
    np.testing.assert_allclose(graph.blocks[0].weights, absolute(bag).T)


def test_what_depends_on_tokens_alone_is_a_constant() -> None:
    class Positions(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.last = nn.Embedding(9, 6), nn.Linear(6, 3)

        def forward(self, ids: Tensor) -> Tensor:
            mask = ids != 0
            place = mask.cumsum(1) * mask
            out: Tensor = self.last(self.embed(ids) + place[..., None].float().sin())
            return out

    assert sizes(network_graph(Positions(), IDS)) == {"embed:tokens": 9, "embed": 6, "last": 3}


def test_weights_that_are_used_twice_say_so() -> None:
    graph = network_graph(Language(), IDS)
    head = next(block for block in graph.blocks if block.name == "embed#2")
    assert (head.tied_to, head.turned) == ("embed", True)
    assert all(block.tied_to is None for block in network_graph(Language(tied=False), IDS).blocks)


def test_they_stay_the_same_in_shuffled_copies() -> None:
    network = Language()
    with torch.no_grad():
        network.embed.weight[3] = 0  # a token that leads nowhere, as padding is
        network.norm.weight.mul_(torch.rand(6) + 0.5)
    graph = network_graph(network, IDS)
    for how in get_args(Shuffle):
        embed, _, _, head = Shuffles(graph, how).draw(np.random.default_rng(1))
        own, other = graph.blocks[0].weights, graph.blocks[3].weights.T
        assert not np.allclose(embed, own)
        # The norm before the head scales its inputs: weights come to the same places with their scales.
        place = dict(zip(own.ravel(), other.ravel(), strict=True))
        np.testing.assert_allclose(np.vectorize(place.get)(embed), head.T)


def test_a_layer_that_is_used_again_stays_the_same_in_copies() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(6, 6)

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = self.layer(self.layer(x).relu())
            return out

    graph = network_graph(Twice(), torch.zeros(1, 6))
    first, second = Shuffles(graph, "layer").draw(np.random.default_rng(0))
    assert not np.allclose(first, graph.blocks[0].weights)
    np.testing.assert_array_equal(first, second)
