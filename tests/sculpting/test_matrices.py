"""What is read as the edges of a network, and what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize, prune

from dovetail.errors import DataError, DovetailError, ShapeError, SpecError
from dovetail.nets import build_net
from dovetail.sculpting.modules.matrices import read_edges

FIRST = [[0.5, 0.0, -1.0], [0.0, 0.0, 2.0]]
LAST = [[1.0, 0.0]]
EDGES = [[[True, False, True], [False, False, True]], [[True, False]]]


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
    edges = read_edges(given)
    assert [matrix.tolist() for matrix in edges] == EDGES
    assert all(matrix.dtype == bool for matrix in edges)


def test_pruned_and_parametrised_weights_are_read_as_they_are_used() -> None:
    first, last = nn.Linear(2, 2), nn.Linear(2, 1)
    first.weight.data, last.weight.data = torch.ones(2, 2), torch.ones(1, 2)
    prune.custom_from_mask(first, "weight", torch.eye(2))
    parametrize.register_parametrization(last, "weight", _Inverse())
    assert [matrix.tolist() for matrix in read_edges(nn.Sequential(first, last))] == [
        [[True, False], [False, True]],
        [[False, False]],
    ]


def test_dovetails_own_networks_are_read() -> None:
    network = build_net("mlp:8-6,batch_norm=true", (1, 2, 2), 3)
    assert [matrix.shape for matrix in read_edges(network)] == [(8, 4), (6, 8), (3, 6)]


def test_the_edges_are_a_copy_that_can_be_read_again() -> None:
    mask = np.ones((2, 2), bool)
    (edges,) = read_edges([mask])
    mask[:] = False
    assert edges.all()
    with pytest.raises(ValueError, match="read-only"):
        edges[0, 0] = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(read_edges([edges])[0], edges)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ([], SpecError, "no matrix was given"),
        (nn.ReLU(), SpecError, "no matrix was given"),
        ("weights.pt", SpecError, "no network: a value of type str"),
        (3, SpecError, "no network: a value of type int"),
        (np.ones((2, 2)), SpecError, "one array of shape 2 x 2"),
        ([np.ones(3)], ShapeError, "matrix 0 has shape 3;"),
        ([np.ones((2, 3, 4))], ShapeError, "matrix 0 has shape 2 x 3 x 4"),
        (
            [np.ones((2, 3)), np.ones((0, 2))],
            ShapeError,
            "matrix 1 has shape 0 x 2; a layer has at least one",
        ),
        (
            [np.ones((2, 3)), np.ones((1, 3))],
            ShapeError,
            "matrix 1 is 1 x 3 and so reads 3 units, but matrix 0",
        ),
        ([[[1.0, float("nan")]]], DataError, "matrix 0 has weights that are not finite"),
        ([torch.tensor([[1.0, float("inf")]])], DataError, "matrix 0 has weights that are not finite"),
        ([[["a", "b"]]], DataError, "matrix 0 cannot be read as numbers"),
        ([[[1, 2], [3]]], DataError, "matrix 0 cannot be read as numbers"),
        ({"conv": torch.ones(2, 1, 3, 3)}, ShapeError, "'conv' has shape 2 x 1 x 3 x 3"),
        (
            nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 2)),
            SpecError,
            "layer '0' is a Conv2d",
        ),
        (nn.LayerNorm(3), SpecError, "the network is a LayerNorm with parameters of its own"),
        (nn.Sequential(nn.LazyLinear(3)), SpecError, "layer '0' has no weights yet"),
        (
            nn.Sequential(nn.Linear(3, 2), nn.Linear(3, 2)),
            ShapeError,
            "layer '1' is 2 x 3 and so reads 3 units",
        ),
    ],
)
def test_what_is_refused_and_how(given: Any, error: type[DovetailError], said: str) -> None:
    with pytest.raises(error) as caught:
        read_edges(given)
    assert said in str(caught.value)
