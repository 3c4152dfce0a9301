"""Schedules: how long steps are over the course of a fit, as factors of each member's own step size.

A schedule goes by steps, not by epochs, and over all epochs that a fit may have: a member that stops early has taken
the first part of it. A member with fewer samples takes fewer steps and goes through its own schedule with these; a
batch that it skips, because its samples weigh nothing, counts like any other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

ScheduleName = Literal["cosine", "linear", "one-cycle"]

ONE_CYCLE_WARMUP = 0.3
"""The share of steps during which "one-cycle" rises by default, as in torch."""

_ONE_CYCLE_START = 1 / 25
_ONE_CYCLE_END = _ONE_CYCLE_START / 1e4


@dataclass(frozen=True)
class Schedule:
    """A course of step sizes.

    Attributes
    ----------
    name : {"cosine", "linear", "one-cycle"} or None
        How they fall after the warm-up; None is not at all.
    warmup : float or int
        During which share of all steps (float), or for how many (int), they rise.

    Examples
    --------
    >>> Schedule("linear", warmup=0).factors(torch.arange(4), total=4)
    tensor([1.0000, 0.7500, 0.5000, 0.2500], dtype=torch.float64)
    >>> Schedule(None, warmup=0.5).factors(torch.arange(4), total=4)
    tensor([0.3333, 0.6667, 1.0000, 1.0000], dtype=torch.float64)
    """

    name: ScheduleName | None
    warmup: float | int

    def factors(self, steps: Tensor, total: int) -> Tensor:
        """Return the factors of these steps, counted from 0, in a training of ``total`` steps; float64."""
        steps = steps.double()
        rising = self.warmup if isinstance(self.warmup, int) else self.warmup * total
        if self.name == "one-cycle":
            return _one_cycle(steps, rising, total)
        rising = round(rising)
        past = ((steps - rising) / max(1, total - rising)).clamp(0, 1)
        after = {"cosine": _half_cosine(past), "linear": 1 - past, None: torch.ones_like(past)}[self.name]
        return torch.where(steps < rising, (steps + 1) / (rising + 1), after)


def _half_cosine(past: Tensor) -> Tensor:
    """Return numbers that fall from 1 to 0, slowly at both ends, while ``past`` goes from 0 to 1."""
    return (1 + torch.cos(math.pi * past)) / 2


def _one_cycle(steps: Tensor, rising: float, total: int) -> Tensor:
    """Return torch's one-cycle policy; its longest step is the last of those that rise."""
    longest = rising - 1
    up = _half_cosine(1 - steps / longest) if longest > 0 else torch.ones_like(steps)
    down = _half_cosine(((steps - longest) / (total - rising)).clamp(max=1))
    return torch.where(
        steps <= longest,
        _ONE_CYCLE_START + (1 - _ONE_CYCLE_START) * up,
        _ONE_CYCLE_END + (1 - _ONE_CYCLE_END) * down,
    )


class ScheduledSizes:
    """The step sizes of a stack's members as a schedule has them, step by step.

    Parameters
    ----------
    schedule : Schedule
        By what to multiply.
    sizes : list of float
        Each member's own step size.
    steps : list of int
        How many steps an epoch of each member has.
    epochs : int
        How many epochs there are.
    device : torch.device
        Where the stack trains.

    Attributes
    ----------
    now : Tensor
        ``[members]``, float64: the step sizes to use. It stays the same piece of memory, because a captured step reads
        the same memory whenever it runs; `advance` is a part of that step.
    """

    def __init__(
        self, schedule: Schedule, sizes: list[float], steps: list[int], epochs: int, device: torch.device
    ) -> None:
        self._schedule, self._epochs = schedule, epochs
        self._courses = sorted(set(steps))  # members with as many steps have the same factors
        self._course = torch.tensor([self._courses.index(count) for count in steps], device=device)
        self._sizes = torch.tensor(sizes, dtype=torch.float64, device=device)
        self._factors = self._sizes.new_zeros(max(steps), len(self._courses))
        self._place = torch.zeros(1, dtype=torch.int64, device=device)
        self.now = self._sizes.clone()

    def begin(self, epoch: int) -> None:
        """Go to the first step of an epoch."""
        places = torch.arange(len(self._factors))
        courses = [self._schedule.factors(places + epoch * n, n * self._epochs) for n in self._courses]
        self._factors.copy_(torch.stack(courses, 1))
        self._place.zero_()

    def advance(self) -> None:
        """Write the next step's sizes to `now`."""
        factors = self._factors.index_select(0, self._place).squeeze(0)
        torch.mul(self._sizes, factors.index_select(0, self._course), out=self.now)
        self._place.add_(1)
