"""Optimizers at work on a stack: all ways to take a step take the same one, and can begin anew."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from dovetail.population import SGD, Adam
from dovetail.population.masking import patterns_of
from dovetail.population.optimizers import Optimizer, step_sizes
from dovetail.population.steppers import ElementwiseStepper, Stepper, StepTensors, make_stepper

from .helpers import DEVICES

MEMBERS = 3
OPTIMIZERS = [
    Adam(lr=0.03, weight_decay=1e-3),
    Adam(lr=[0.1, 0.1, 0.01]),
    SGD(lr=[0.1, 0.2, 0.3], momentum=0.8),
]


def new_tensors(optimizer: Optimizer, device: str) -> StepTensors:
    generator = torch.Generator().manual_seed(0)
    shapes = [(MEMBERS, 4, 5), (MEMBERS, 7)]
    params = [torch.randn(shape, generator=generator, dtype=torch.float64).to(device) for shape in shapes]
    mask = {"": torch.rand(shapes[0], generator=generator).to(device) > 0.3}
    (pattern,) = patterns_of(mask, {"": params[0]}).values()
    return StepTensors(
        params,
        [pattern, None],
        [[torch.zeros_like(param) for param in params] for _ in optimizer.slots],
        torch.zeros(MEMBERS, dtype=torch.int64, device=device),
        step_sizes(optimizer, MEMBERS),
    )


def take_steps(stepper: Stepper, tensors: StepTensors, count: int = 4) -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    for _ in range(count):
        grads = [
            torch.randn(param.shape, generator=generator, dtype=torch.float64) for param in tensors.params
        ]
        stepper.step([grad.to(tensors.taken.device) for grad in grads], None)
    return [param.clone().cpu() for param in tensors.params]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("skipping", [False, True])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_all_ways_take_the_same_steps(optimizer: Optimizer, skipping: bool, device: str) -> None:
    plain, tensors = new_tensors(optimizer, "cpu"), new_tensors(optimizer, device)
    expected = take_steps(ElementwiseStepper(optimizer, plain), plain)
    found = take_steps(make_stepper(optimizer, tensors, skipping=skipping), tensors)
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("skipping", [False, True])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_after_a_restart_all_is_as_at_first(optimizer: Optimizer, skipping: bool, device: str) -> None:
    tensors = new_tensors(optimizer, device)
    stepper = make_stepper(optimizer, tensors, skipping=skipping)
    first = take_steps(stepper, tensors)
    for param, fresh in zip(tensors.params, new_tensors(optimizer, device).params, strict=True):
        param.copy_(fresh)
    stepper.restart()
    assert not tensors.taken.any()
    torch.testing.assert_close(take_steps(stepper, tensors), first, atol=0, rtol=0)
