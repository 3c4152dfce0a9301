"""Relearning: how many samples, and how many steps, a network needs until it knows a class again.

What a network still holds of a class shows in how fast it learns it: from as few samples, in as few steps, a network
that never saw the class should be no slower. Only samples of the class are few; of all others there is plenty, as
whoever attacks a network of public classes has it.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ...data.split import Split
from ...errors import DataError, SpecError
from ...result import Result
from ..evaluate import run_network
from .probes import of_classes, sample

SAMPLES = (1, 5, 20, 100)
STEPS = (0, 2, 5, 10, 15, 20, 30, 40, 50, 70, 100, 140, 200)

MOST_TO_MEASURE = 2000
"""Test samples of either side that each of many measurements looks at."""


@dataclass(frozen=True)
class Relearning(Result):
    """How well a network knows a class, by how many samples of it it was shown and by how many steps it took.

    Attributes
    ----------
    samples : tuple of int
        How many samples of the class there were to learn from, fewest first.
    steps : tuple of int
        After how many steps it was measured.
    accuracy : tuple of tuple of float
        For each number of samples, at each of the steps: the mean of the accuracies on test samples of the class and of
        the others, so that neither is given up for the other.

    Examples
    --------
    >>> found = Relearning((1, 5), (0, 10, 50), ((0.5, 0.6, 0.7), (0.5, 0.8, 0.9)))
    >>> found.steps_until(0.75), found.samples_until(0.65), found.steps_until(0.95)
    (10, 1, None)
    """

    samples: tuple[int, ...]
    steps: tuple[int, ...]
    accuracy: tuple[tuple[float, ...], ...]

    def steps_until(self, level: float) -> int | None:
        """Return in how few steps it gets to an accuracy with the most samples; None if it never does."""
        reached = (step for step, value in zip(self.steps, self.accuracy[-1], strict=True) if value >= level)
        return next(reached, None)

    def samples_until(self, level: float) -> int | None:
        """Return how few samples are enough to get to an accuracy within all steps; None if none are."""
        reached = (count for count, row in zip(self.samples, self.accuracy, strict=True) if max(row) >= level)
        return next(reached, None)


def relearn(
    network: nn.Module,
    train: Split,
    test: Split,
    gone: Sequence[int],
    kept: Sequence[int],
    *,
    samples: Sequence[int] = SAMPLES,
    steps: Sequence[int] = STEPS,
    lr: float = 1e-3,
    batch_size: int = 64,
    seed: int = 0,
    device: torch.device | str = "cpu",
) -> Relearning:
    """Teach a copy of a network some classes again, from few samples of them, and measure how fast it learns.

    All weights are trained with Adam. Half of each batch is of the few samples, half of the other classes' training
    samples, of which at most `MOST_SAMPLES` are looked at; batch norm keeps the statistics it has.

    Parameters
    ----------
    network : nn.Module
        With an output for each class; it is left as it is.
    train, test : Split
        What to learn from, and what to measure on: at most `MOST_TO_MEASURE` samples of the classes, and of the others.
    gone, kept : sequence of int
        Ids of the classes to learn again, and of the others that it is to know.
    samples : sequence of int
        How many samples of each class that is gone there are to learn from. Where there are fewer, all are taken.
    steps : sequence of int
        After how many steps to measure, the last being the end.
    lr : float
        Step size.
    batch_size : int
        Samples a step.
    seed : int
        What samples and their order are drawn from.
    device : str or torch.device
        Where to train.

    References
    ----------
    Chundawat, Tarun, Mandal, Kankanhalli: "Zero-Shot Machine Unlearning", IEEE TIFS 2023, whose anamnesis index is the
    ratio of such numbers of steps.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> network = dt.build_net("mlp:32", data.input_shape, data.outputs, seed=0)
    >>> found = relearn(network, data.train, data.test, [3], [1, 8], samples=[50], steps=[0, 60], lr=1e-2)
    >>> found.accuracy[0][1] > 0.8
    True
    """
    if not samples or not steps or min(samples) < 1 or min(steps) < 0:
        raise SpecError(
            f"relearning takes numbers of samples from 1 and of steps from 0, not {list(samples)} and {list(steps)}"
        )
    counts, marks = tuple(sorted(set(samples))), tuple(sorted(set(steps)))
    draw = torch.Generator().manual_seed(seed)
    own = [_shuffled(of_classes(train, [one]), draw) for one in gone]
    others = sample(of_classes(train, kept))
    if not len(others) or not all(len(split) for split in own):
        raise DataError("relearning needs training samples of each class that is gone, and of the others")
    probe = [sample(of_classes(test, ids), MOST_TO_MEASURE) for ids in (gone, kept)]
    if not all(len(split) for split in probe):
        raise DataError("relearning needs test samples of the classes that are gone, and of the others")
    measured = []
    for count in counts:
        few = _joined([split.where(torch.arange(min(count, len(split)))) for split in own])
        measured.append(
            _curve(network, few, others, probe, marks, lr, batch_size, seed, torch.device(device))
        )
    return Relearning(counts, marks, tuple(measured))


def _curve(
    network: nn.Module,
    few: Split,
    others: Split,
    probe: Sequence[Split],
    steps: Sequence[int],
    lr: float,
    batch_size: int,
    seed: int,
    device: torch.device,
) -> tuple[float, ...]:
    """Return the balanced accuracy at some of the steps of a training."""
    learner = copy.deepcopy(network).to(device).eval()
    for weights in learner.parameters():
        weights.requires_grad_()
    optimizer = torch.optim.Adam(learner.parameters(), lr=lr)
    draw = torch.Generator().manual_seed(seed)
    sides = [Split(split.x.to(device), split.y.to(device)) for split in (few, others)]
    tests = [Split(split.x.to(device), split.y.to(device)) for split in probe]
    found = []
    for step in range(steps[-1] + 1):
        if step in steps:
            found.append(sum(_accuracy(learner, split) for split in tests) / len(tests))
        if step == steps[-1]:
            break
        drawn = [
            side.where(torch.randint(len(side), (batch_size // 2,), generator=draw).to(device))
            for side in sides
        ]
        batch = _joined(drawn)
        optimizer.zero_grad()
        with torch.enable_grad():
            cross_entropy(learner(batch.x), batch.y).backward()
        optimizer.step()
    return tuple(found)


def _accuracy(network: nn.Module, split: Split) -> float:
    right: Tensor = run_network(network, split.x).argmax(1) == split.y
    return float(right.double().mean())


def _shuffled(split: Split, draw: torch.Generator) -> Split:
    return split.where(torch.randperm(len(split), generator=draw).to(split.y.device))


def _joined(splits: Sequence[Split]) -> Split:
    return Split(torch.cat([split.x for split in splits]), torch.cat([split.y for split in splits]))
