"""Optimizers: Adam, AdamW and SGD, and the rules by which they update a whole stack in place.

All are elementwise, so one call serves all members. Three rules take the same step, the fastest that applies is used:

- `FusedUpdate`: torch's fused kernels, one call per run of members with equal step sizes and as many steps behind them;
- `ElementwiseUpdate`: plain tensor operations, for members that differ in *which* steps they take;
- `kernels.adam.KernelUpdate`: on CUDA, everything in one pass over memory, step sizes and masks included.

Masks are applied after every step, in the form that is fastest. On the CPU a mask is a pattern of bits as wide as the
weights, all ones or all zeros: a bitwise *and* makes exact zeros of whatever was there, NaN included, and costs one
fast pass (`masked_fill_` takes thirteen times as long, and multiplying leaves NaN and -0). On CUDA it is one byte per
weight, read by the optimizer's kernel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import torch
from torch import Tensor
from torch.optim.adam import adam
from torch.optim.sgd import sgd

from ..errors import TrainingError
from .kernels import has_triton
from .stack import Tensors

_BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True)
class Adam:
    """Adam with torch's defaults.

    Attributes
    ----------
    lr : float or sequence of float
        Step size, one for all or one per member.
    betas, eps, weight_decay
        As in `torch.optim.Adam`; ``weight_decay`` is an L2 term in the gradient.

    Examples
    --------
    >>> Adam(lr=[1e-3, 1e-4]).lr
    [0.001, 0.0001]
    """

    lr: float | Sequence[float] = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0

    state_names = ("mean", "square")
    decoupled = False


@dataclass(frozen=True)
class AdamW(Adam):
    """Adam with decoupled weight decay, with torch's defaults.

    Attributes
    ----------
    lr : float or sequence of float
        Step size, one for all or one per member.
    betas, eps, weight_decay
        As in `torch.optim.AdamW`: a step shrinks weights by ``lr * weight_decay``, whatever their gradients are.

    Examples
    --------
    >>> AdamW(lr=1e-3).weight_decay
    0.01
    """

    weight_decay: float = 0.01

    decoupled = True


@dataclass(frozen=True)
class SGD:
    """Stochastic gradient descent with momentum.

    Attributes
    ----------
    lr : float or sequence of float
        Step size, one for all or one per member.
    momentum, weight_decay, nesterov
        As in `torch.optim.SGD`; ``weight_decay`` is an L2 term in the gradient.

    Examples
    --------
    >>> SGD(lr=0.1).momentum
    0.9
    """

    lr: float | Sequence[float] = 0.1
    momentum: float = 0.9
    weight_decay: float = 0.0
    nesterov: bool = False

    state_names = ("momentum",)


Optimizer = Adam | SGD


def step_sizes(optimizer: Optimizer, members: int) -> list[float]:
    """Return one checked step size per member."""
    if not isinstance(optimizer, Adam | SGD):
        raise TrainingError(
            f"the optimizer must be dovetail.population.Adam(...), AdamW(...) or SGD(...), not {optimizer!r:.80}"
        )
    _check_settings(optimizer)
    try:
        lr = torch.as_tensor(optimizer.lr, dtype=torch.float64)
    except (TypeError, ValueError) as error:
        raise TrainingError(
            f"step size {optimizer.lr!r:.80} is not a number or a sequence of numbers"
        ) from error
    sizes: list[float] = lr.tolist() if lr.dim() else [float(lr)] * members
    if len(sizes) != members:
        raise TrainingError(f"{len(sizes)} step sizes for {members} members; give one, or one per member")
    for size in sizes:
        if not (math.isfinite(size) and size >= 0):
            raise TrainingError(f"step size {size} is not a finite number ≥ 0")
    return sizes


def _check_settings(optimizer: Optimizer) -> None:
    shares = optimizer.betas if isinstance(optimizer, Adam) else (optimizer.momentum,)
    if not all(0 <= share < 1 for share in shares):
        raise TrainingError(f"betas and momentum must be from 0 up to, not including, 1: {optimizer}")
    if not 0 <= optimizer.weight_decay < math.inf or (
        isinstance(optimizer, Adam) and not 0 <= optimizer.eps < 1
    ):
        raise TrainingError(f"weight_decay and eps must be finite and not negative: {optimizer}")
    if isinstance(optimizer, SGD) and optimizer.nesterov and not optimizer.momentum:
        raise TrainingError(f"nesterov looks ahead along the momentum, which is 0: {optimizer}")


def mask_patterns(masks: Mapping[str, Tensor], params: Mapping[str, Tensor]) -> Tensors:
    """Return masks (bool, stacked) as patterns for these parameters."""
    return {name: _pattern(mask, params[name]) for name, mask in masks.items()}


def _pattern(mask: Tensor, param: Tensor) -> Tensor:
    mask = mask.to(param.device, torch.bool)
    return mask if param.is_cuda else mask.to(_BITS[param.element_size()]).neg_()


def clear_masked_(param: Tensor, pattern: Tensor) -> None:
    """Set a parameter to 0 wherever its pattern says so."""
    if param.is_cuda:
        param.masked_fill_(pattern.logical_not(), 0)
    else:
        param.view(pattern.dtype).bitwise_and_(pattern)


@dataclass(frozen=True)
class UpdateTensors:
    """What an update reads and writes, tensor by tensor; all changed in place.

    Attributes
    ----------
    params : list of Tensor
        Stacked parameters ``[members, ...]``.
    patterns : list of Tensor or None
        Where each is masked (`mask_patterns`), or None.
    state : list of list of Tensor
        The optimizer's own tensors, one list like ``params`` for each of its `state_names`.
    steps : Tensor
        How many steps each member has taken, ``[members]``.
    sizes : list of float
        Each member's step size; equal ones next to each other.
    scheduled : Tensor or None
        Where the step size of each member is written before every step, ``[members]``, if it changes.
    """

    params: list[Tensor]
    patterns: list[Tensor | None]
    state: list[list[Tensor]]
    steps: Tensor
    sizes: list[float]
    scheduled: Tensor | None = None

    @property
    def lr(self) -> Tensor:
        """Step sizes as a float64 tensor, ``[members]``: the one that a schedule writes to, if there is one."""
        if self.scheduled is not None:
            return self.scheduled
        return torch.tensor(self.sizes, dtype=torch.float64, device=self.steps.device)

    def restart(self) -> None:
        """Forget all steps."""
        for tensor in (self.steps, *(tensor for tensors in self.state for tensor in tensors)):
            tensor.zero_()

    def clear_masked(self) -> None:
        """Set masked weights to 0."""
        for param, pattern in zip(self.params, self.patterns, strict=True):
            if pattern is not None:
                clear_masked_(param, pattern)


class UpdateRule(Protocol):
    """Takes optimizer steps for a stack."""

    def restart(self) -> None:
        """Begin anew, as if no step had been taken."""

    def step(self, grads: Sequence[Tensor], active: Tensor | None) -> None:
        """Take a step; ``active`` says which members take part, None for all."""


def update_rule(optimizer: Optimizer, tensors: UpdateTensors, *, skipping: bool) -> UpdateRule:
    """Return the fastest rule for these tensors; ``skipping`` if members may skip steps."""
    if isinstance(optimizer, Adam) and tensors.steps.is_cuda and has_triton():
        from .kernels.adam import KernelUpdate

        return KernelUpdate(optimizer, tensors)
    # The fused kernels are given step sizes as numbers, which a captured step would keep.
    fixed = tensors.scheduled is None or not tensors.steps.is_cuda
    return (
        FusedUpdate(optimizer, tensors) if fixed and not skipping else ElementwiseUpdate(optimizer, tensors)
    )


class FusedUpdate:
    """Torch's fused kernels; every member takes every step."""

    def __init__(self, optimizer: Optimizer, tensors: UpdateTensors) -> None:
        self._optimizer, self._tensors = optimizer, tensors
        alike = list(zip(tensors.sizes, tensors.steps.tolist(), strict=True))
        bounds = [0, *(i for i in range(1, len(alike)) if alike[i] != alike[i - 1]), len(alike)]
        self._runs = [slice(start, stop) for start, stop in pairwise(bounds)]
        # The kernels count steps themselves, in one scalar per tensor.
        self._counters = [[tensors.steps[run.start].float() for _ in tensors.params] for run in self._runs]

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
        tensors.steps.add_(1)
        sizes = tensors.sizes if tensors.scheduled is None else tensors.scheduled.tolist()
        # The kernels take every tensor as one run of memory.
        lists = [tensors.params, [grad.contiguous() for grad in grads], *tensors.state]
        for run, counters in zip(self._runs, self._counters, strict=True):
            of_run = lists if len(self._runs) == 1 else [[t[run] for t in each] for each in lists]
            self._call(sizes[run.start], counters, *of_run)
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
                decoupled_weight_decay=optimizer.decoupled,
            )  # fmt: skip
        else:
            sgd(
                params, grads, [*first], fused=True, weight_decay=optimizer.weight_decay,
                momentum=optimizer.momentum, lr=lr, dampening=0.0, nesterov=optimizer.nesterov, maximize=False,
            )  # fmt: skip


class ElementwiseUpdate:
    """Plain tensor operations; members take part or not, and count their own steps."""

    def __init__(self, optimizer: Optimizer, tensors: UpdateTensors) -> None:
        self._optimizer, self._tensors, self._lr = optimizer, tensors, tensors.lr

    def restart(self) -> None:
        """Begin anew, as if no step had been taken."""
        self._tensors.restart()

    def step(self, grads: Sequence[Tensor], active: Tensor | None) -> None:
        """Take a step with the active members."""
        optimizer, tensors = self._optimizer, self._tensors
        tensors.steps.add_(1 if active is None else active)
        # A member that has not begun has taken 0 steps; 1 keeps its unused branch finite.
        steps = tensors.steps.double().clamp(min=1)
        for param, grad, *state in zip(tensors.params, grads, *tensors.state, strict=True):
            shape = (-1, *[1] * (param.dim() - 1))
            lr, step = self._lr.view(shape), steps.view(shape)
            on = None if active is None else active.view(shape)
            if isinstance(optimizer, Adam) and optimizer.decoupled:
                kept = (1 - lr * optimizer.weight_decay).to(param.dtype)
                param.mul_(kept if on is None else torch.where(on, kept, 1))
            elif optimizer.weight_decay:
                grad = grad + optimizer.weight_decay * param
            if isinstance(optimizer, Adam):
                change = _adam_change(optimizer, grad, state[0], state[1], lr, step, on)
            else:
                change = _sgd_change(optimizer, grad, state[0], lr, on)
            param.sub_(change if on is None else torch.where(on, change, 0))
        tensors.clear_masked()


def _adam_change(
    optimizer: Adam, grad: Tensor, mean: Tensor, square: Tensor, lr: Tensor, step: Tensor, on: Tensor | None
) -> Tensor:
    beta1, beta2 = optimizer.betas
    _put(mean, mean.lerp(grad, 1 - beta1), on)
    _put(square, square * beta2 + (1 - beta2) * grad * grad, on)
    # The corrections in float64: 1 - 0.999 keeps only four digits in float32.
    size, correction = ((lr / (1 - beta1**step)).to(grad.dtype), (1 - beta2**step).to(grad.dtype))
    return size * mean / (square / correction).sqrt_().add_(optimizer.eps)


def _sgd_change(optimizer: SGD, grad: Tensor, momentum: Tensor, lr: Tensor, on: Tensor | None) -> Tensor:
    _put(momentum, optimizer.momentum * momentum + grad, on)
    return lr.to(grad.dtype) * (grad + optimizer.momentum * momentum if optimizer.nesterov else momentum)


def _put(state: Tensor, new: Tensor, on: Tensor | None) -> None:
    """Put new values into a state, of the active members only."""
    state.copy_(new if on is None else torch.where(on, new, state))
