"""What a network is sculpted for: samples to train and to validate on, and what counts as doing the task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ...data.boolean import BooleanTask, Planted, boolean_task
from ...data.dataset import Dataset, Split
from ...errors import SpecError
from ...population.perceptrons import Head

BOOLEAN_NOISE = 0.1
"""Standard deviation of the noise on the bits of truth tables."""

_THRESHOLDS = {"two-digits": 0.99, "digit-xor": 0.98}

Task = BooleanTask | Dataset | str | Sequence[int] | ArrayLike | Tensor


@dataclass(frozen=True)
class Problem:
    """A task as training sees it.

    Attributes
    ----------
    name : str
        What it is called.
    train, val : Split
        Samples with inputs in rows.
    head : {"bits", "classes"}
        What the targets are.
    threshold : float or None
        The accuracy on ``val`` (of bits, or of classes) from which on the task counts as done; None for that of the
        dense network.
    noise : float
        Standard deviation of the noise on training inputs.
    outputs : int
        How many there are.
    boolean : bool
        Whether it is a truth table.
    planted : Planted or None
        The modules in it, where they are known.
    """

    name: str
    train: Split
    val: Split
    head: Head
    threshold: float | None
    noise: float
    outputs: int
    boolean: bool = False
    planted: Planted | None = None

    def to(self, device: torch.device) -> Problem:
        """Return the problem with its samples on a device."""
        return replace(self, train=self.train.to(device), val=self.val.to(device))

    @property
    def inputs(self) -> int:
        """How many there are."""
        return self.train.x.shape[1]

    @property
    def answers(self) -> int:
        """Bits (or classes) in all of the validation split."""
        return self.val.y.numel()


def problem_of(task: Task) -> Problem:
    """Return the problem that a task poses.

    Parameters
    ----------
    task : BooleanTask, Dataset, str, list of int, or truth table
        A `Dataset` of classes or bits; or a Boolean task: made by `boolean_task`, or what that takes (a family such as
        ``[4, 2, 4]``, formulas such as ``"y1 = x1 ^ x2"``), or rows of 0/1, one for each of ``2**inputs`` inputs.

    Examples
    --------
    >>> problem = problem_of("y1 = x1 ^ x2")
    >>> problem.inputs, problem.outputs, problem.threshold, problem.noise
    (2, 1, 1.0, 0.1)
    """
    if isinstance(task, Dataset):
        return _of_dataset(task)
    if isinstance(task, str) or (isinstance(task, list | tuple) and all(isinstance(n, int) for n in task)):
        task = boolean_task(task)
    if not isinstance(task, BooleanTask):
        task = BooleanTask.from_table(task)
    table = Split(task.x, task.y)
    return Problem(task.name, table, table, "bits", 1.0, BOOLEAN_NOISE, task.outputs, True, task.planted)


def _of_dataset(data: Dataset) -> Problem:
    if data.task == "values":
        raise SpecError(
            f"{data.name} has values for targets; sculpting needs classes or bits, to tell when a task is done"
        )
    train, val = (Split(split.x.flatten(1).float(), split.y) for split in (data.train, data.val))
    head: Head = "bits" if data.task == "bits" else "classes"
    return Problem(data.name, train, val, head, _THRESHOLDS.get(data.name), 0.0, data.outputs)
