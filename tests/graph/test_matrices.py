from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn.utils import prune

import dovetail as dt
from dovetail.errors import DataError, ShapeError, SpecError
from dovetail.graph import network_graph

from .networks import absolute, adjacency, randomise, sizes


@given(
    widths=st.lists(st.integers(1, 5), min_size=2, max_size=5),
    seed=st.integers(0, 1000),
    kind=st.sampled_from(["numpy", "tensor", "list", "bfloat16"]),
)
def test_matrices_give_the_adjacency_made_by_hand(widths: list[int], seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    # Quarters are exact in every number format.
    matrices = [rng.integers(-8, 8, size=(b, a)) / 4 for a, b in pairwise(widths)]
    given_as: dict[str, Sequence[ArrayLike | Tensor]] = {
        "numpy": matrices,
        "tensor": [torch.from_numpy(matrix) for matrix in matrices],
        "list": [matrix.tolist() for matrix in matrices],
        "bfloat16": [torch.from_numpy(matrix).bfloat16() for matrix in matrices],
    }
    graph = network_graph(given_as[kind])
    begin = np.cumsum([0, *widths])
    layers = [
        (range(begin[i + 1], begin[i + 2]), range(begin[i], begin[i + 1]), np.abs(matrix))
        for i, matrix in enumerate(matrices)
    ]
    np.testing.assert_array_equal(graph.adjacency.toarray(), adjacency(sum(widths), layers))
    assert [group.size for group in graph.groups] == widths
    assert [group.name for group in graph.groups][:2] == ["input", "layer1"]
    assert all(block.weights.dtype == np.float64 for block in graph.blocks)


def test_kernels_are_convolutions_and_a_dense_layer_may_read_their_maps() -> None:
    rng = np.random.default_rng(0)
    first, second, dense = (
        rng.normal(size=(4, 3, 3, 3)),
        rng.normal(size=(5, 4, 3, 3)),
        rng.normal(size=(2, 20)),
    )
    assert sizes(network_graph([first, second, dense])) == {"layer1": 4, "layer2": 5}
    graph = network_graph([first, second, dense], convention="mlp")
    assert sizes(graph) == {"input": 3, "layer1": 4, "layer2": 5, "layer3": 2}
    # Each channel comes with four places, one after the other.
    np.testing.assert_allclose(graph.blocks[2].weights, np.abs(dense).reshape(2, 5, 4).sum(axis=2))


@pytest.mark.parametrize("spec", ["mlp:7-6", "mlp:7,batch_norm=true", "small-cnn", "vgg11"])
@pytest.mark.parametrize("convention", ["mlp", None])
def test_a_state_dictionary_gives_the_graph_of_its_module(spec: str, convention: str | None) -> None:
    network = randomise(dt.build_net(spec, (1, 32, 32), 3), seed=0)
    of_module = network_graph(network, torch.zeros(1, 1, 32, 32), convention=convention)  # type: ignore[arg-type]
    of_state = network_graph(network.state_dict(), convention=convention)  # type: ignore[arg-type]
    assert of_state.groups == of_module.groups
    np.testing.assert_allclose(of_state.adjacency.toarray(), of_module.adjacency.toarray(), rtol=1e-6)


def test_a_state_dictionary_with_pruning_masks() -> None:
    network = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))
    prune.random_unstructured(network[0], "weight", amount=0.5)
    graph = network_graph(network.state_dict())
    assert sizes(graph) == {"input": 4, "0": 3, "1": 2}
    np.testing.assert_allclose(graph.blocks[0].weights, absolute(network[0]))
    assert np.count_nonzero(graph.blocks[0].weights) == 6


def test_state_dictionaries_that_are_no_chain_ask_for_the_module() -> None:
    resnet = dt.build_net("resnet18", (3, 32, 32), 10).state_dict()
    with pytest.raises(ShapeError, match=r"shortcut.*pass the module itself with example_input"):
        network_graph(resnet)
    normed_input = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2)).state_dict()
    with pytest.raises(ShapeError, match=r"'0\.running_var' does not fit the layer before it"):
        network_graph(normed_input)
    computed = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)).state_dict()
    with pytest.raises(SpecError, match="pass the module"):
        network_graph(computed)


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(
        ShapeError, match="layer2 is 2 x 4 and so reads 4 units, but layer1 is 3 x 5 and has 3"
    ):
        network_graph([np.ones((3, 5)), np.ones((2, 4))])
    with pytest.raises(ShapeError, match="matrix 1 has shape 3"):
        network_graph([np.ones(3)])
    with pytest.raises(SpecError, match="for a single layer, a list of one"):
        network_graph(np.ones((3, 5)))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="a value of type str"):
        network_graph("mlp:512")
    with pytest.raises(SpecError, match="no weight matrix among 0 tensors"):
        network_graph([])
    with pytest.raises(DataError, match="'layer1' cannot be read as numbers"):
        network_graph([["a", "b"]])
    with pytest.raises(SpecError, match="this network has none; use 'mlp'"):
        network_graph([np.ones((3, 5))], convention="cnn")
    with pytest.raises(SpecError, match=r"unknown norm 'l3'; did you mean"):
        network_graph([np.ones((3, 5))], norm="l3")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="unknown convention 'rnn'"):
        network_graph([np.ones((3, 5))], convention="rnn")  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(bad: float) -> None:
    matrices = [np.ones((3, 5)), np.ones((2, 3))]
    matrices[1][0, 1] = bad
    with pytest.raises(DataError, match="layer 'layer2' has 1 weights that are not finite"):
        network_graph(matrices)
    state = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).state_dict()
    state["1.running_var"][0] = bad
    with pytest.raises(DataError, match=r"normalisation next to layer '0'"):
        network_graph(state if np.isnan(bad) else state | {"1.running_var": torch.tensor([-2.0, 1.0])})
