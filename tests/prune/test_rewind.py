from __future__ import annotations

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import ShapeError, SpecError
from dovetail.prune import apply_masks, apply_masks_, rewind


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    steps=st.integers(1, 12),
    adam=st.booleans(),
    weight_decay=st.sampled_from([0.0, 0.1]),
    lr=st.sampled_from([1e-3, 0.5]),
)
def test_a_masked_weight_is_zero_after_any_optimizer(
    seed: int, steps: int, adam: bool, weight_decay: float, lr: float
) -> None:
    generator = torch.Generator().manual_seed(seed)
    net = torch.nn.Sequential(torch.nn.Linear(5, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3))
    parameters = dict(net.named_parameters())
    masks = {name: torch.rand(p.shape, generator=generator) < 0.5 for name, p in parameters.items()}
    masks.pop("2.bias")
    optimizer: torch.optim.Optimizer
    # Momentum gathered while all weights were free goes on pushing the masked ones.
    if adam:
        optimizer = torch.optim.Adam(net.parameters(), lr=lr, weight_decay=weight_decay)
    else:
        optimizer = torch.optim.SGD(net.parameters(), lr=lr / 10, momentum=0.9, weight_decay=weight_decay)
    for step in range(steps + 1):
        before = copy.deepcopy(parameters)
        optimizer.zero_grad()
        x = torch.randn(8, 5, generator=generator)
        torch.autograd.backward(net(x).square().mean() + net(x).sum())
        optimizer.step()
        if step > 0:
            free = {name: p.detach().clone() for name, p in parameters.items()}
            apply_masks_(parameters, masks)
            for name, mask in masks.items():
                assert parameters[name][~mask].eq(0).all()
                assert torch.equal(parameters[name][mask], free[name][mask])
    assert not torch.equal(before["2.bias"], parameters["2.bias"])


def test_nothing_leaks_through_a_mask() -> None:
    bad = {"w": torch.tensor([float("nan"), float("inf"), -1.0, 2.0])}
    masks = {"w": torch.tensor([False, False, False, True])}
    for result in (apply_masks(bad, masks)["w"], rewind(bad, masks)["w"]):
        assert result.tolist() == [0, 0, 0, 2]
        assert not result.signbit().any()
    apply_masks_(bad, masks)
    assert bad["w"].tolist() == [0, 0, 0, 2]


def test_rewinding_leaves_the_initial_values_alone() -> None:
    initial = {"w": torch.ones(2), "b": torch.ones(2)}
    start = rewind(initial, {"w": torch.tensor([True, False])})
    for tensor in start.values():
        tensor.add_(1)
    assert initial["w"].tolist() == [1, 1]
    assert initial["b"].tolist() == [1, 1]


def test_masks_must_fit() -> None:
    with pytest.raises(ShapeError, match="'w'"):
        apply_masks({"w": torch.ones(2)}, {"w": torch.ones(3, dtype=torch.bool)})
    with pytest.raises(SpecError, match="'v'"):
        apply_masks_({"w": torch.ones(2)}, {"v": torch.ones(2, dtype=torch.bool)})
