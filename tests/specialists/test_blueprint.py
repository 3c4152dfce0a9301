"""Networks of a blueprint: their weights must be all there, of the right shapes, and no others."""

from __future__ import annotations

import pytest
import torch

from dovetail.nets import NetSpec
from dovetail.specialists.blueprint import Blueprint, State

BLUEPRINT = Blueprint(NetSpec.parse("mlp:8"), (4,), ("cat", "dog"), 5.0)


def state() -> State:
    return {
        "dense1.weight": torch.rand(8, 4),
        "dense1.bias": torch.rand(8),
        "output.weight": torch.rand(2, 8),
    }


def test_a_network_has_the_weights_it_is_given_and_none_of_another() -> None:
    first, second = state(), state()
    networks = [BLUEPRINT.network(first), BLUEPRINT.network(second)]
    for weights, network in zip((first, second), networks, strict=True):
        assert not network.training
        assert all(torch.equal(network.state_dict()[name], tensor) for name, tensor in weights.items())
    assert all(parameter.is_meta for parameter in BLUEPRINT.network().parameters())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"dense1.bias": torch.rand(9)}, "size mismatch for dense1.bias"),
        ({"other": torch.rand(1)}, "other"),
        ({"dense1.bias": None}, "dense1.bias"),
    ],
    ids=["shape", "too many", "missing"],
)
def test_weights_that_do_not_fit_are_refused(wrong: dict[str, torch.Tensor | None], said: str) -> None:
    weights = {name: tensor for name, tensor in {**state(), **wrong}.items() if tensor is not None}
    with pytest.raises(RuntimeError, match=said):
        BLUEPRINT.network(weights)
