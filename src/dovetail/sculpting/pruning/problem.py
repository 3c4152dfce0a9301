"""What a network is sculpted for: samples to train and to validate on, and what counts as doing the task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ...data.boolean import BooleanTask, boolean_task
from ...data.dataset import Dataset, Split
from ...errors import SpecError
from .perceptrons import Head

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
    image_shape : (int, int) or None
        Height and width where inputs are the pixels of a grey image.
    output_names : tuple of str or None
        What outputs are called, where they have names.
    """

    name: str
    train: Split
    val: Split
    head: Head
    threshold: float | None
    noise: float
    outputs: int
    boolean: bool = False
    image_shape: tuple[int, int] | None = None
    output_names: tuple[str, ...] | None = None

    def to(self, device: torch.device) -> Problem:
        """Return the problem with its samples on a device."""
        return replace(self, train=self.train.to(device, self.dtype), val=self.val.to(device, self.dtype))

    @property
    def dtype(self) -> torch.dtype:
        """The type of numbers to compute with.

        How sums are rounded depends on the shape of the stack, so on who else is in it, and a search magnifies
        the smallest difference. In float64 that stays far below what decides a search; truth tables are small
        enough for it.
        """
        return torch.float64 if self.boolean else torch.float32

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
    if isinstance(task, str) and "=" not in task and not task.lstrip().startswith("["):
        raise SpecError(
            f"{task!r:.60} is no Boolean task: write a family such as [4,2,4], or formulas such as 'y1 = x1 ^ x2'; for "
            "a data set, pass what dovetail.load gives"
        )
    if isinstance(task, str) or (isinstance(task, list | tuple) and all(isinstance(n, int) for n in task)):
        task = boolean_task(task)
    if not isinstance(task, BooleanTask):
        task = BooleanTask.from_table(task)
    table = Split(task.x, task.y)
    return Problem(task.name, table, table, "bits", 1.0, BOOLEAN_NOISE, task.outputs, True)


def _of_dataset(data: Dataset) -> Problem:
    if data.task == "values":
        raise SpecError(
            f"{data.name} has values for targets; sculpting needs classes or bits, to tell when a task is done"
        )
    head: Head = "bits" if data.task == "bits" else "classes"
    train, val = (
        Split(split.x.reshape(len(split), -1).float(), split.y.float() if head == "bits" else split.y)
        for split in (data.train, data.val)
    )
    shape = data.input_shape
    image = (shape[1], shape[2]) if len(shape) == 3 and shape[0] == 1 else None
    return Problem(
        data.name, train, val, head, _THRESHOLDS.get(data.name), 0.0, data.outputs, image_shape=image,
        output_names=data.classes,
    )  # fmt: skip
