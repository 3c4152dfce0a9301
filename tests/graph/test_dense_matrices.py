"""Chains of dense layers: what is read as one, in which order, and what is refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize, prune

from dovetail.errors import DataError, DovetailError, ShapeError, SpecError
from dovetail.graph.read import dense_matrices
from dovetail.nets import build_net

FIRST = [[0.5, 0.0, -1.0], [0.0, 0.0, 2.0]]
LAST = [[1.0, 0.0]]
EDGES = [[[True, False, True], [False, False, True]], [[True, False]]]


def edges_of(given: Any, example_input: torch.Tensor | None = None) -> list[Any]:
    return [(matrix != 0).tolist() for matrix in dense_matrices(given, example_input).values()]


def _network() -> nn.Sequential:
    first, last = nn.Linear(3, 2), nn.Linear(2, 1)
    first.weight.data, last.weight.data = torch.tensor(FIRST), torch.tensor(LAST)
    return nn.Sequential(nn.Flatten(), first, nn.BatchNorm1d(2), nn.ReLU(), last)


class _Inverse(nn.Module):
    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return 1 - weight


@pytest.mark.parametrize(
    "given",
    [
        [FIRST, LAST],
        (np.array(FIRST), torch.tensor(LAST)),
        (np.array(matrix) != 0 for matrix in (FIRST, LAST)),
        [torch.tensor(FIRST, dtype=torch.bfloat16), torch.tensor(LAST, requires_grad=True)],
        [torch.tensor(FIRST).to_sparse(), LAST],
        _network(),
        _network().state_dict(),
    ],
    ids=["lists", "arrays", "masks", "tensors", "sparse", "module", "state"],
)
def test_all_ways_to_give_a_network(given: Any) -> None:
    assert edges_of(given) == EDGES


def test_pruned_and_parametrised_weights_are_read_as_they_are_used() -> None:
    first, last = nn.Linear(2, 2), nn.Linear(2, 1)
    first.weight.data, last.weight.data = torch.ones(2, 2), torch.ones(1, 2)
    prune.custom_from_mask(first, "weight", torch.eye(2))
    parametrize.register_parametrization(last, "weight", _Inverse())
    assert edges_of(nn.Sequential(first, last)) == [
        [[True, False], [False, True]],
        [[False, False]],
    ]


def test_dovetails_own_networks_are_read() -> None:
    network = build_net("mlp:8-6,batch_norm=true", (1, 2, 2), 3)
    assert [matrix.shape for matrix in dense_matrices(network).values()] == [(8, 4), (6, 8), (3, 6)]


class Scattered(nn.Module):
    """Layers of one size that are used in another order than they were defined in, one of them twice."""

    def __init__(self) -> None:
        super().__init__()
        self.last, self.first, self.unused = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.first(x).relu()
        out: torch.Tensor = self.last(self.first(hidden))
        return out


def test_layers_are_in_the_order_of_their_use() -> None:
    found = dense_matrices(Scattered())
    assert list(found) == ["first", "first#2", "last"]


def test_the_width_of_the_input_is_found_out() -> None:
    class Backwards(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(width, width - 1) for width in (3, 4, 5, 6))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for layer in reversed(self.layers):
                x = layer(x)
            return x

    assert [len(matrix) for matrix in dense_matrices(Backwards()).values()] == [5, 4, 3, 2]


def test_an_example_shows_what_a_network_without_linear_layers_does() -> None:
    class Product(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Parameter(torch.tensor(FIRST))
            self.last = nn.Parameter(torch.tensor(LAST))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x @ self.first.T) @ self.last.T

    assert edges_of(Product(), torch.zeros(1, 3)) == EDGES


def test_arrays_that_cannot_be_written_to_are_read_without_a_warning() -> None:
    mask = np.ones((2, 2), bool)
    mask.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert edges_of([mask]) == [mask.tolist()]


class Between(nn.Module):
    """Two layers, and something other than an activation between them."""

    def __init__(self, between: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.first, self.last, self.between = nn.Linear(2, 2), nn.Linear(2, 2), between

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.first(x).relu()
        out: torch.Tensor = self.last(self.between(hidden)) + (hidden if self.between is torch.sin else 0)
        return out


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ([], SpecError, "there is no weight matrix among 0 tensors"),
        (nn.ReLU(), SpecError, "a network without nn.Linear needs an example_input"),
        ("weights.pt", SpecError, "no network: a value of type str"),
        (3, SpecError, "no network: a value of type int"),
        (np.ones((2, 2)), SpecError, "one array of shape (2, 2)"),
        ([np.ones(3)], ShapeError, "matrix 1 has shape 3;"),
        ([np.ones((2, 3, 4))], ShapeError, "layer 'layer1' is a convolution"),
        ([np.ones((2, 3)), np.ones((0, 2))], ShapeError, "matrix 2 has shape 0 x 2;"),
        ([np.ones((2, 3)), np.ones((1, 3))], ShapeError, "layer2 is 1 x 3 and so reads 3 units, but layer1"),
        ([[[1.0, float("nan")]]], DataError, "layer 'layer1' has 1 weights that are not finite"),
        (
            [torch.tensor([[1.0, float("inf")]])],
            DataError,
            "layer 'layer1' has 1 weights that are not finite",
        ),
        ([[["a", "b"]]], DataError, "'layer1' cannot be read as numbers"),
        ([[[1, 2], [3]]], DataError, "'layer1' cannot be read as numbers"),
        ({"conv": torch.ones(2, 1, 3, 3)}, ShapeError, "layer 'conv' is a convolution"),
        (
            nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 2)),
            ShapeError,
            "layer '0' is a convolution",
        ),
        (nn.LayerNorm(3), SpecError, "a network with LayerNorm needs an example_input"),
        (nn.Sequential(nn.LazyLinear(3)), SpecError, "'0.weight' has no values yet"),
        (nn.Sequential(nn.Linear(3, 2), nn.Linear(3, 2)), ShapeError, "the network fails on example_input"),
        (Between(lambda x: x.flip(1)), ShapeError, "layer 'last' does not read layer 'first' as it is"),
        (Between(torch.sin), ShapeError, "some units of this network are added to others"),
    ],
)
def test_what_is_refused_and_how(given: Any, error: type[DovetailError], said: str) -> None:
    with pytest.raises(error) as caught:
        dense_matrices(given)
    assert said in str(caught.value)
