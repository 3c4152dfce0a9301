"""Optimizers at work on a stack: all ways to take a step take the same one, and can begin anew."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from dovetail.population import SGD, Adam, AdamW
from dovetail.population.optim import (
    ElementwiseUpdate,
    Optimizer,
    UpdateRule,
    UpdateTensors,
    mask_patterns,
    step_sizes,
    update_rule,
)

from .helpers import DEVICES

MEMBERS = 3
OPTIMIZERS = [
    Adam(lr=0.03, weight_decay=1e-3),
    Adam(lr=[0.1, 0.1, 0.01]),
    AdamW(lr=[0.1, 0.1, 0.01], weight_decay=0.1),
    SGD(lr=[0.1, 0.2, 0.3], momentum=0.8),
    SGD(lr=0.1, momentum=0.8, weight_decay=1e-3, nesterov=True),
]


def new_tensors(optimizer: Optimizer, device: str) -> UpdateTensors:
    generator = torch.Generator().manual_seed(0)
    shapes = [(MEMBERS, 4, 5), (MEMBERS, 7)]
    params = [torch.randn(shape, generator=generator, dtype=torch.float64).to(device) for shape in shapes]
    mask = {"": torch.rand(shapes[0], generator=generator).to(device) > 0.3}
    (pattern,) = mask_patterns(mask, {"": params[0]}).values()
    return UpdateTensors(
        params,
        [pattern, None],
        [[torch.zeros_like(param) for param in params] for _ in optimizer.state_names],
        torch.zeros(MEMBERS, dtype=torch.int64, device=device),
        step_sizes(optimizer, MEMBERS),
    )


def take_steps(rule: UpdateRule, tensors: UpdateTensors, count: int = 4) -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    for _ in range(count):
        grads = [
            torch.randn(param.shape, generator=generator, dtype=torch.float64) for param in tensors.params
        ]
        rule.step([grad.to(tensors.steps.device) for grad in grads], None)
    return [param.clone().cpu() for param in tensors.params]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("skipping", [False, True])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_all_ways_take_the_same_steps(optimizer: Optimizer, skipping: bool, device: str) -> None:
    plain, tensors = new_tensors(optimizer, "cpu"), new_tensors(optimizer, device)
    expected = take_steps(ElementwiseUpdate(optimizer, plain), plain)
    found = take_steps(update_rule(optimizer, tensors, skipping=skipping), tensors)
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("skipping", [False, True])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_after_a_restart_all_is_as_at_first(optimizer: Optimizer, skipping: bool, device: str) -> None:
    tensors = new_tensors(optimizer, device)
    rule = update_rule(optimizer, tensors, skipping=skipping)
    first = take_steps(rule, tensors)
    for param, fresh in zip(tensors.params, new_tensors(optimizer, device).params, strict=True):
        param.copy_(fresh)
    rule.restart()
    assert not tensors.steps.any()
    torch.testing.assert_close(take_steps(rule, tensors), first, atol=0, rtol=0)
