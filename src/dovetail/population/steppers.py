"""Optimizers at work on a stack: three ways to take the same step, the fastest that applies.

All are elementwise, so one call serves all members:

- `FusedStepper`: torch's fused kernels, one call per run of members with equal step sizes;
- `ElementwiseStepper`: plain tensor operations, for members that differ in *which* steps they take;
- `adam_kernel.KernelStepper`: on CUDA, everything in one pass over memory, step sizes and masks included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import torch
from torch import Tensor
from torch.optim.adam import adam
from torch.optim.sgd import sgd

from .cuda import has_triton
from .masking import clear_
from .optimizers import SGD, Adam, Optimizer


@dataclass(frozen=True)
class StepTensors:
    """What a step reads and writes, tensor by tensor; all changed in place.

    Attributes
    ----------
    params : list of Tensor
        Stacked parameters ``[members, ...]``.
    patterns : list of Tensor or None
        Where each is masked (see `masking`), or None.
    moments : list of list of Tensor
        The optimizer's own tensors, slot by slot, like ``params``.
    taken : Tensor
        How many steps each member has taken, ``[members]``.
    sizes : list of float
        Each member's step size; equal ones next to each other.
    """

    params: list[Tensor]
    patterns: list[Tensor | None]
    moments: list[list[Tensor]]
    taken: Tensor
    sizes: list[float]

    @property
    def lr(self) -> Tensor:
        """Step sizes as a float64 tensor, ``[members]``."""
        return torch.tensor(self.sizes, dtype=torch.float64, device=self.taken.device)

    def restart(self) -> None:
        """Forget all steps."""
        for tensor in (self.taken, *(moment for slot in self.moments for moment in slot)):
            tensor.zero_()

    def clear_masked(self) -> None:
        """Set masked weights to 0."""
        for param, pattern in zip(self.params, self.patterns, strict=True):
            if pattern is not None:
                clear_(param, pattern)


class Stepper(Protocol):
    """Takes optimizer steps for a stack."""

    def restart(self) -> None:
        """Begin anew, as if no step had been taken."""

    def step(self, grads: Sequence[Tensor], active: Tensor | None) -> None:
        """Take a step; ``active`` says which members take part, None for all."""


def make_stepper(optimizer: Optimizer, tensors: StepTensors, *, skipping: bool) -> Stepper:
    """Return the fastest stepper for these tensors; ``skipping`` if members may skip steps."""
    if isinstance(optimizer, Adam) and tensors.taken.is_cuda and has_triton():
        from .adam_kernel import KernelStepper

        return KernelStepper(optimizer, tensors)
    return ElementwiseStepper(optimizer, tensors) if skipping else FusedStepper(optimizer, tensors)


class FusedStepper:
    """Torch's fused kernels; every member takes every step."""

    def __init__(self, optimizer: Optimizer, tensors: StepTensors) -> None:
        self._optimizer, self._tensors = optimizer, tensors
        sizes = tensors.sizes
        bounds = [0, *(i for i in range(1, len(sizes)) if sizes[i] != sizes[i - 1]), len(sizes)]
        self._runs = [slice(start, stop) for start, stop in pairwise(bounds)]
        # The kernels count steps themselves, in one scalar per tensor.
        self._counters = [[tensors.taken[run.start].float() for _ in tensors.params] for run in self._runs]

    def restart(self) -> None:
        """Begin anew, as if no step had been taken."""
        self._tensors.restart()
        for counters in self._counters:
            for counter in counters:
                counter.zero_()

    def step(self, grads: Sequence[Tensor], active: Tensor | None) -> None:
        """Take a step with all members."""
        assert active is None
        tensors = self._tensors
        tensors.taken.add_(1)
        # The kernels take every tensor as one run of memory.
        groups = [tensors.params, [grad.contiguous() for grad in grads], *tensors.moments]
        for run, counters in zip(self._runs, self._counters, strict=True):
            of_run = groups if len(self._runs) == 1 else [[t[run] for t in group] for group in groups]
            self._call(tensors.sizes[run.start], counters, *of_run)
        tensors.clear_masked()

    def _call(
        self,
        lr: float,
        counters: list[Tensor],
        params: list[Tensor],
        grads: list[Tensor],
        first: list[Tensor],
        second: list[Tensor] | None = None,
    ) -> None:
        optimizer = self._optimizer
        if isinstance(optimizer, Adam):
            assert second is not None
            beta1, beta2 = optimizer.betas
            adam(
                params, grads, first, second, [], counters, fused=True, amsgrad=False, maximize=False,
                beta1=beta1, beta2=beta2, lr=lr, weight_decay=optimizer.weight_decay, eps=optimizer.eps,
            )  # fmt: skip
        else:
            sgd(
                params, grads, [*first], fused=True, weight_decay=optimizer.weight_decay,
                momentum=optimizer.momentum, lr=lr, dampening=0.0, nesterov=False, maximize=False,
            )  # fmt: skip


class ElementwiseStepper:
    """Plain tensor operations; members take part or not, and count their own steps."""

    def __init__(self, optimizer: Optimizer, tensors: StepTensors) -> None:
        self._optimizer, self._tensors, self._lr = optimizer, tensors, tensors.lr

    def restart(self) -> None:
        """Begin anew, as if no step had been taken."""
        self._tensors.restart()

    def step(self, grads: Sequence[Tensor], active: Tensor | None) -> None:
        """Take a step with the active members."""
        tensors = self._tensors
        active = torch.ones_like(tensors.taken, dtype=torch.bool) if active is None else active
        tensors.taken.add_(active)
        # A member that has not begun has taken 0 steps; 1 keeps its unused branch finite.
        steps = tensors.taken.double().clamp(min=1)
        for param, grad, *moments in zip(tensors.params, grads, *tensors.moments, strict=True):
            lr, step, on = (t.view(-1, *[1] * (param.dim() - 1)) for t in (self._lr, steps, active))
            grad = grad + self._optimizer.weight_decay * param if self._optimizer.weight_decay else grad
            if isinstance(self._optimizer, Adam):
                change = _adam_change(self._optimizer, grad, moments[0], moments[1], lr, step, on)
            else:
                change = _sgd_change(self._optimizer, grad, moments[0], lr, on)
            param.sub_(torch.where(on, change, 0))
        tensors.clear_masked()


def _adam_change(
    optimizer: Adam, grad: Tensor, mean: Tensor, square: Tensor, lr: Tensor, step: Tensor, on: Tensor
) -> Tensor:
    beta1, beta2 = optimizer.betas
    mean.copy_(torch.where(on, mean.lerp(grad, 1 - beta1), mean))
    square.copy_(torch.where(on, square * beta2 + (1 - beta2) * grad * grad, square))
    # The corrections in float64: 1 - 0.999 keeps only four digits in float32.
    size, correction = ((lr / (1 - beta1**step)).to(grad.dtype), (1 - beta2**step).to(grad.dtype))
    return size * mean / (square / correction).sqrt_().add_(optimizer.eps)


def _sgd_change(optimizer: SGD, grad: Tensor, momentum: Tensor, lr: Tensor, on: Tensor) -> Tensor:
    momentum.copy_(torch.where(on, optimizer.momentum * momentum + grad, momentum))
    return lr.to(grad.dtype) * momentum
