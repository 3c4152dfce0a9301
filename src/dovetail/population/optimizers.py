"""Which optimizer, and with which settings: Adam or SGD, with a step size for all or one per member."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ..errors import TrainingError


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

    slots = ("mean", "square")


@dataclass(frozen=True)
class SGD:
    """Stochastic gradient descent with momentum.

    Attributes
    ----------
    lr : float or sequence of float
        Step size, one for all or one per member.
    momentum, weight_decay
        As in `torch.optim.SGD`.

    Examples
    --------
    >>> SGD(lr=0.1).momentum
    0.9
    """

    lr: float | Sequence[float] = 0.1
    momentum: float = 0.9
    weight_decay: float = 0.0

    slots = ("momentum",)


Optimizer = Adam | SGD


def _check_settings(optimizer: Optimizer) -> None:
    shares = optimizer.betas if isinstance(optimizer, Adam) else (optimizer.momentum,)
    if not all(0 <= share < 1 for share in shares):
        raise TrainingError(f"betas and momentum must be from 0 up to, not including, 1: {optimizer}")
    if not 0 <= optimizer.weight_decay < math.inf or (
        isinstance(optimizer, Adam) and not 0 <= optimizer.eps < 1
    ):
        raise TrainingError(f"weight_decay and eps must be finite and not negative: {optimizer}")


def step_sizes(optimizer: Optimizer, members: int) -> list[float]:
    """Return one checked step size per member."""
    if not isinstance(optimizer, Adam | SGD):
        raise TrainingError(
            f"the optimizer must be dovetail.population.Adam(...) or SGD(...), not {optimizer!r:.80}"
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
