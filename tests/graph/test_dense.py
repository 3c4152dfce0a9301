from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils import parametrizations, prune

import dovetail as dt
from dovetail.errors import ShapeError, SpecError
from dovetail.graph import network_graph

from .networks import ResidualMLP, absolute, adjacency, kernel_sums, nodes, randomise, sizes


def test_an_mlp_is_its_weight_matrices() -> None:
    network = dt.build_net("mlp:7-6", (1, 4, 4), 3)
    expected = network_graph([layer.weight for layer in network.modules() if isinstance(layer, nn.Linear)])
    for example in (None, torch.zeros(1, 1, 4, 4), torch.zeros(5, 1, 4, 4)):
        graph = network_graph(network, example)
        assert sizes(graph) == {"input": 16, "dense1": 7, "dense2": 6, "output": 3}
        assert [block.name for block in graph.blocks] == ["dense1", "dense2", "output"]
        np.testing.assert_array_equal(graph.adjacency.toarray(), expected.adjacency.toarray())


@given(seed=st.integers(0, 1000), order=st.permutations(range(6)))
def test_permuted_hidden_units_are_permuted_nodes(seed: int, order: list[int]) -> None:
    network = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 3))
    randomise(network, seed)
    permuted = copy.deepcopy(network)
    with torch.no_grad():
        for tensor in [*permuted[0].parameters(), *permuted[1].parameters(), *permuted[1].buffers()]:
            if tensor.dim():
                tensor.copy_(tensor[order])
        last = permuted[3].get_parameter("weight")
        last.copy_(last[:, order])
    moved = np.arange(13)
    moved[4:10] = 4 + np.asarray(order)
    before, after = network_graph(network).adjacency.toarray(), network_graph(permuted).adjacency.toarray()
    np.testing.assert_allclose(after, before[np.ix_(moved, moved)])


def test_added_units_share_their_nodes() -> None:
    network = ResidualMLP()
    graph = network_graph(network)
    assert sizes(graph) == {"input": 5, "stem": 4, "inner1": 3, "inner2": 2, "output": 3}
    stem = nodes(graph, "stem")
    wiring = [
        (network.stem, stem, nodes(graph, "input")),
        (network.inner1, nodes(graph, "inner1"), stem),
        (network.outer1, stem, nodes(graph, "inner1")),
        (network.inner2, nodes(graph, "inner2"), stem),
        (network.outer2, stem, nodes(graph, "inner2")),
        (network.output, nodes(graph, "output"), stem),
    ]
    expected = adjacency(
        len(graph), [(outputs, inputs, kernel_sums(layer)) for layer, outputs, inputs in wiring]
    )
    np.testing.assert_allclose(graph.adjacency.toarray(), expected)


def test_an_output_that_is_added_to_the_input_is_the_input() -> None:
    class Skip(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hidden, self.back = nn.Linear(4, 3), nn.Linear(3, 4)

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = x + self.back(self.hidden(x).relu())
            return out

    assert sizes(network_graph(Skip())) == {"input": 4, "hidden": 3}


def test_code_without_modules_is_followed() -> None:
    class Bare(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Parameter(torch.randn(4, 6))
            self.second = nn.Parameter(torch.randn(2, 6))

        def forward(self, x: Tensor) -> Tensor:
            if x.shape[1] != 4:  # symbolic tracing would stop here
                raise ValueError
            x = (x @ self.first).clamp(min=0)
            return nn.functional.linear(x, self.second)

    network = Bare()
    graph = network_graph(network, torch.zeros(1, 4))
    assert sizes(graph) == {"input": 4, "first": 6, "second": 2}
    np.testing.assert_allclose(graph.blocks[0].weights, network.first.detach().T.abs())


def test_places_that_the_same_weights_read_are_one_unit() -> None:
    network = nn.Sequential(nn.Linear(4, 6), nn.GELU(), nn.Linear(6, 2))
    of_vectors, of_sequences = network_graph(network), network_graph(network, torch.zeros(2, 5, 4))
    assert of_sequences.groups == of_vectors.groups
    np.testing.assert_array_equal(of_sequences.adjacency.toarray(), of_vectors.adjacency.toarray())


def test_a_layer_used_twice_has_two_groups() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = self.layer(self.layer(x).relu())
            return out

    assert sizes(network_graph(Twice())) == {"input": 3, "layer": 3, "layer#2": 3}


def test_the_weight_in_effect_counts() -> None:
    network = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), parametrizations.weight_norm(nn.Linear(5, 2)))
    prune.random_unstructured(network[0], "weight", amount=0.5)
    graph = network_graph(network, torch.zeros(1, 4))
    assert sizes(graph) == {"input": 4, "0": 5, "2": 2}
    assert np.count_nonzero(graph.blocks[0].weights) == 10
    np.testing.assert_allclose(graph.blocks[0].weights, absolute(network[0]))
    np.testing.assert_allclose(graph.blocks[1].weights, absolute(network[2]))


def test_half_precision_needs_no_example_of_its_kind() -> None:
    network = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)).bfloat16()
    graph = network_graph(network, torch.zeros(1, 4))
    np.testing.assert_array_equal(graph.blocks[1].weights, absolute(network[2]))


def test_the_network_comes_out_unchanged() -> None:
    network = nn.Sequential(
        nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout(), nn.ReLU(inplace=True), nn.Linear(3, 2)
    )
    network[1].eval()
    network(torch.randn(6, 4)).sum().backward()
    example = torch.randn(3, 4)
    modes = [module.training for module in network.modules()]
    state = copy.deepcopy(network.state_dict())
    grads = [parameter.grad.clone() for parameter in network.parameters() if parameter.grad is not None]
    random, given = torch.get_rng_state(), example.clone()
    network_graph(network, example)
    assert [module.training for module in network.modules()] == modes
    assert all(torch.equal(tensor, state[name]) for name, tensor in network.state_dict().items())
    assert all(
        torch.equal(p.grad, g) for p, g in zip(network.parameters(), grads, strict=True) if p.grad is not None
    )
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())
    assert torch.equal(torch.get_rng_state(), random)
    assert torch.equal(example, given)
    assert not example.requires_grad


def test_full_memory_is_not_blamed_on_the_example() -> None:
    class Large(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x) + x.new_zeros(2**50)

    with pytest.raises(RuntimeError, match="you tried to allocate"):
        network_graph(Large(4, 2), torch.zeros(1, 4))


def test_an_example_is_asked_for_where_one_is_needed() -> None:
    with pytest.raises(SpecError, match="a network with Conv2d needs an example_input"):
        network_graph(dt.build_net("small-cnn", (1, 28, 28), 10))
    with pytest.raises(ShapeError, match=r"fails on example_input of shape \(1, 5\)"):
        network_graph(nn.Linear(4, 2), torch.zeros(1, 5))
    with pytest.raises(ShapeError, match=r"example_input is of shape \(4,\)"):
        network_graph(nn.Linear(4, 2), torch.zeros(4))
    with pytest.raises(SpecError, match=r"'weight' has no values yet"):
        network_graph(nn.LazyLinear(4), torch.zeros(1, 4))
    with pytest.raises(SpecError, match="no layer with weights"):
        network_graph(nn.ReLU(), torch.zeros(1, 4))
