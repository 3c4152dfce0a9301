"""Attention: values pass units on, queries and keys gate, heads are named."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import dovetail as dt
from dovetail.graph import network_graph

from .dependence import by_edges, by_gradients
from .networks import absolute, nodes, randomise, sizes

WIDTH, HEADS, LENGTH = 6, 2, 5
SEQUENCE = torch.zeros(1, LENGTH, WIDTH)


def by_hand(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(-1) @ v


def fixed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention whose scores pass no gradient, so that only values do."""
    return (q @ k.transpose(-2, -1)).softmax(-1).detach() @ v


def with_einsum(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("bhqk,bhkd->bhqd", scores.softmax(-1), v)


def batched(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    shape = v.shape
    q, k, v = (x.flatten(0, 1) for x in (q, k, v))
    return torch.bmm(torch.bmm(q, k.mT).softmax(2), v).reshape(shape)


def linear_in_length(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q.relu() @ k.relu().mT) @ v


class Attention(nn.Module):
    """Heads of attention written by hand, between an embedding of inputs and an output layer."""

    def __init__(self, attend: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.attend = attend

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            layer(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        out: Tensor = self.out(self.attend(q, k, v).transpose(1, 2).flatten(2))
        return out


class Torch(nn.Module):
    """The same heads as `Attention` by nn.MultiheadAttention, with weights in one or in three."""

    def __init__(self, other: Attention, *, separate: bool = False, length_first: bool = False) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=not length_first)
        self.length_first = length_first
        with torch.no_grad():
            layers = (other.query, other.key, other.value)
            if separate:
                # Three widths that are not the same in PyTorch's eyes, though they are.
                self.attention._qkv_same_embed_dim = False
                self.attention.register_parameter("in_proj_weight", None)
                for name, layer in zip("qkv", layers, strict=True):
                    self.attention.register_parameter(
                        f"{name}_proj_weight", nn.Parameter(layer.weight.clone())
                    )
            else:
                self.attention.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
            self.attention.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
            self.attention.out_proj.load_state_dict(other.out.state_dict())

    def forward(self, x: Tensor) -> Tensor:
        if self.length_first:
            x = x.transpose(0, 1)
        out: Tensor = self.attention(x, x, x)[0]
        return out.transpose(0, 1) if self.length_first else out


def test_values_pass_units_on_and_a_query_is_one_with_its_key() -> None:
    network = Attention(by_hand)
    randomise(network, 0)
    graph = network_graph(network, SEQUENCE)
    assert sizes(graph) == {"input": WIDTH, "query": WIDTH, "value": WIDTH, "out": WIDTH}
    matrix = graph.adjacency.toarray()
    at = {name: nodes(graph, name) for name in ("input", "query", "value", "out")}
    np.testing.assert_allclose(
        matrix[np.ix_(at["query"], at["input"])], absolute(network.query) + absolute(network.key)
    )
    np.testing.assert_allclose(matrix[np.ix_(at["value"], at["input"])], absolute(network.value))
    np.testing.assert_allclose(matrix[np.ix_(at["out"], at["value"])], absolute(network.out))
    assert not matrix[np.ix_(at["out"], at["query"])].any()


@pytest.mark.parametrize("seed", range(5))
def test_outputs_depend_on_inputs_exactly_along_edges(seed: int) -> None:
    network = Attention(fixed).double()
    randomise(network, seed, density=0.3)
    graph = network_graph(network, SEQUENCE)
    expected = by_gradients(network, (LENGTH, WIDTH))
    assert 0 < expected.mean() < 1
    np.testing.assert_array_equal(by_edges(graph, "input", "out"), expected)


@pytest.mark.parametrize("seed", range(5))
def test_where_a_head_looks_depends_on_its_own_queries_and_keys_alone(seed: int) -> None:
    network = Attention(by_hand).double()
    randomise(network, seed, density=0.3)
    graph = network_graph(network, SEQUENCE)

    def scores(x: Tensor) -> Tensor:
        q, k = (layer(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for layer in (network.query, network.key))
        looks: Tensor = (q @ k.mT).permute(0, 2, 3, 1)
        return looks

    expected = by_gradients(scores, (LENGTH, WIDTH))
    adjacency = graph.adjacency.toarray()
    for head, row in zip(graph.heads, expected, strict=True):
        reads = adjacency[head.queries][:, nodes(graph, "input")].any(0)
        # A query whose key reads nothing has no score to add to: the graph may show more than there is.
        assert not (row & ~reads).any()


@pytest.mark.parametrize(
    "other",
    [
        lambda own: Attention(F.scaled_dot_product_attention),
        lambda own: Attention(with_einsum),
        lambda own: Attention(batched),
        lambda own: Attention(linear_in_length),
        Torch,
        lambda own: Torch(own, separate=True),
        lambda own: Torch(own, length_first=True),
    ],
    ids=["fused", "einsum", "bmm", "linear", "torch", "torch separate", "torch length first"],
)
def test_all_ways_to_write_it_are_one_graph(other: Callable[[Attention], nn.Module]) -> None:
    torch.manual_seed(0)
    own = Attention(by_hand)
    network = other(own)
    if isinstance(network, Attention):
        network.load_state_dict(own.state_dict())
    ours, theirs = network_graph(own, SEQUENCE), network_graph(network, SEQUENCE)
    np.testing.assert_allclose(ours.adjacency.toarray(), theirs.adjacency.toarray(), rtol=1e-6)
    for head, same in zip(ours.heads, theirs.heads, strict=True):
        for role in ("queries", "keys", "values"):
            np.testing.assert_array_equal(getattr(head, role), getattr(same, role))


@pytest.mark.parametrize("frozen", [False, True])
def test_the_fast_path_of_torch_is_read_as_well(frozen: bool) -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 8, batch_first=True, dropout=0.0)
    network = nn.Sequential(
        nn.Embedding(9, WIDTH), nn.TransformerEncoder(layer, 2), nn.Linear(WIDTH, 3)
    ).eval()
    network.requires_grad_(not frozen)
    graph = network_graph(network, torch.zeros(1, LENGTH, dtype=torch.long))
    assert sizes(graph) == {
        "0:tokens": 9, "0": WIDTH, "2": 3,
        **{f"1.layers.{n}.self_attn.{part}": WIDTH for n in range(2) for part in ("query", "value")},
        **{f"1.layers.{n}.linear1": 8 for n in range(2)},
    }  # fmt: skip
    assert [head.name for head in graph.heads] == [
        f"1.layers.{n}.self_attn head {head}" for n in range(2) for head in range(HEADS)
    ]


def test_heads_have_their_units_by_name() -> None:
    graph = network_graph(Attention(by_hand), SEQUENCE)
    first, second = graph.heads
    assert (first.name, second.name) == ("Attention head 0", "Attention head 1")
    assert first.values.tolist() == nodes(graph, "value")[: WIDTH // HEADS]
    assert second.queries.tolist() == second.keys.tolist() == nodes(graph, "query")[WIDTH // HEADS :]


def test_masks_by_tokens_and_by_place_change_nothing() -> None:
    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.out = nn.Embedding(9, WIDTH), nn.Linear(WIDTH, 3)
            self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

        def forward(self, ids: Tensor) -> Tensor:
            x = self.embed(ids) + torch.arange(LENGTH)[:, None].float()
            causal = nn.Transformer.generate_square_subsequent_mask(LENGTH)
            x = self.attention(x, x, x, key_padding_mask=ids == 0, attn_mask=causal)[0]
            kept = (ids != 0)[..., None].float()
            out: Tensor = self.out((x * kept).sum(1) / kept.sum(1).clamp(min=1))
            return out

    graph = network_graph(Masked(), torch.zeros(1, LENGTH, dtype=torch.long))
    assert sizes(graph) == {
        "embed:tokens": 9, "embed": 6, "attention.query": 6, "attention.value": 6,
        "attention.out_proj": 6, "out": 3,
    }  # fmt: skip


def test_a_key_of_several_heads_is_none_of_their_queries() -> None:
    class Grouped(nn.Module):
        def __init__(self, *, repeat: bool) -> None:
            super().__init__()
            self.query, self.out = nn.Linear(8, 8), nn.Linear(8, 3)
            self.key, self.value = nn.Linear(8, 4), nn.Linear(8, 4)
            self.repeat = repeat

        def forward(self, x: Tensor) -> Tensor:
            q, k, v = (
                layer(x).unflatten(-1, (-1, 2)).transpose(1, 2)
                for layer in (self.query, self.key, self.value)
            )
            if self.repeat:
                k, v = (x.repeat_interleave(2, 1) for x in (k, v))
            x = F.scaled_dot_product_attention(q, k, v, enable_gqa=not self.repeat)
            out: Tensor = self.out(x.transpose(1, 2).flatten(2))
            return out

    torch.manual_seed(0)
    first, second = Grouped(repeat=True), Grouped(repeat=False)
    second.load_state_dict(first.state_dict())
    graphs = [network_graph(each, torch.zeros(1, 3, 8)) for each in (first, second)]
    assert sizes(graphs[0]) == {"input": 8, "query": 8, "key": 4, "value": 4, "out": 3}
    np.testing.assert_allclose(graphs[0].adjacency.toarray(), graphs[1].adjacency.toarray())
    assert [head.values.tolist() for head in graphs[0].heads] == [
        [20, 21], [20, 21], [22, 23], [22, 23]
    ]  # fmt: skip


def test_rotated_queries_and_keys_come_in_pairs() -> None:
    angle = torch.arange(LENGTH)[:, None] * torch.tensor([1.0, 0.1, 0.3])
    cos, sin = (torch.cat([one, one], -1)[:, :3].contiguous() for one in (angle.cos(), angle.sin()))

    def turned(x: Tensor) -> Tensor:
        return x * cos + torch.cat([-x[..., 1:2], x[..., :1], x[..., 2:]], -1) * sin

    graph = network_graph(Attention(lambda q, k, v: by_hand(turned(q), turned(k), v)), SEQUENCE)
    # In each head the first two units are turned into one another, the third stays alone.
    assert sizes(graph)["query"] == 4


def test_gated_dense_layers_depend_on_inputs_exactly_along_edges() -> None:
    class Gated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gate, self.up, self.down = nn.Linear(6, 8), nn.Linear(6, 8), nn.Linear(8, 6)

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = self.down(F.silu(self.gate(x)) * self.up(x))
            return out

    network = Gated().double()
    randomise(network, 3, density=0.25)
    graph = network_graph(network, torch.zeros(1, 6))
    assert sizes(graph) == {"input": 6, "gate": 8, "down": 6}
    expected = by_gradients(network, (6,))
    assert 0 < expected.mean() < 1
    np.testing.assert_array_equal(by_edges(graph, "input", "down"), expected)


def test_norms_written_by_hand_are_followed() -> None:
    class Normed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(4, 6), nn.Linear(6, 3)
            self.scale = nn.Parameter(torch.rand(6))

        def forward(self, x: Tensor) -> Tensor:
            x = self.first(x)
            x = x - x.mean(-1, keepdim=True)
            x = x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * self.scale
            out: Tensor = self.last(x)
            return out

    network = Normed()
    first, last = network_graph(network, torch.zeros(1, 4)).blocks
    np.testing.assert_allclose(first.weights, absolute(network.first))
    scale = network.scale.detach().double().numpy()
    np.testing.assert_allclose(last.weights, absolute(network.last) * scale)


def test_a_mixer_of_places_passes_units_on() -> None:
    class Mixer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Linear(5, 6)
            self.first, self.second = nn.Linear(LENGTH, 7), nn.Linear(7, LENGTH)
            self.out = nn.Linear(6, 3)

        def forward(self, x: Tensor) -> Tensor:
            x = self.patches(x)
            x = x + self.second(F.gelu(self.first(x.mT))).mT
            out: Tensor = self.out(x)
            return out

    network = Mixer().double()
    randomise(network, 0, density=0.4)
    with torch.no_grad():
        network.first.weight.normal_(), network.second.weight.normal_()
    graph = network_graph(network, torch.zeros(1, LENGTH, 5))
    assert sizes(graph) == {"input": 5, "patches": 6, "out": 3}
    np.testing.assert_array_equal(by_edges(graph, "input", "out"), by_gradients(network, (LENGTH, 5)))


def test_heads_can_be_lesioned() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 8, batch_first=True, dropout=0.0)
    network = nn.Sequential(nn.Unflatten(1, (8, 8)), layer, nn.Flatten(), nn.Linear(64, 10)).eval()
    data = dt.load("digits")
    split = dt.Split(data.test.x.flatten(1)[:40], data.test.y[:40])
    graph = network_graph(network, split.x[:1])
    labels = np.full(len(graph), -1)
    labels[graph.heads[0].values] = 0
    found = dt.lesion(network, labels, split, draws=2, progress=False)
    without = nn.Sequential(*network)
    with torch.no_grad():
        before = layer.self_attn.out_proj.weight.clone()
        layer.self_attn.out_proj.weight[:, :4] = 0
        accuracy = (without(split.x).argmax(1) == split.y).float().mean().item()
        layer.self_attn.out_proj.weight.copy_(before)
    assert found.accuracy - found.drops[0] == pytest.approx(accuracy, abs=1e-6)
