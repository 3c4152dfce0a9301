"""A problem that a network is sculpted for: samples to train and to validate on, and what counts as doing the task."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ...data.boolean import BooleanTask, boolean_task
from ...data.boolean.formulas import INPUT
from ...data.boolean.table import check_size, read_bits
from ...data.boolean.task import own_names
from ...data.dataset import Dataset
from ...data.split import Split
from ...errors import DataError, SpecError
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
    head : {"bits", "some bits", "classes"}
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
    input_names, output_names : tuple of str or None
        What inputs and outputs are called, where they have names.
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
    input_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all samples: what is called the same need not be the same task."""
        digest = hashlib.sha256()
        for tensor in (*self.train, *self.val):
            digest.update(f"{tuple(tensor.shape)}".encode())
            digest.update(tensor.cpu().contiguous().numpy().data)
        return digest.hexdigest()[:16]

    def to(self, device: torch.device) -> Problem:
        """Return the problem with its samples on a device."""
        return replace(self, train=self.train.to(device, self.dtype), val=self.val.to(device, self.dtype))

    @property
    def dtype(self) -> torch.dtype:
        """The type of numbers to compute with.

        How sums are rounded depends on the shape of the stack, so on who else is in it, and a search magnifies the
        smallest difference. In float64 that seldom decides a search; truth tables are small enough for it.
        """
        return torch.float64 if self.boolean else torch.float32

    @property
    def inputs(self) -> int:
        """How many there are."""
        return self.train.x.shape[1]

    @property
    def answers(self) -> int:
        """Bits (or classes) in all of the validation split that matter."""
        return int((~self.val.y.isnan()).sum())


def problem_of(task: Task) -> Problem:
    """Return the problem that a task poses.

    Parameters
    ----------
    task : BooleanTask, Dataset, str, list of int, or truth table
        A `Dataset` of classes or bits; or a Boolean task: made by `boolean_task`, or what that takes (a family such as
        ``[4, 2, 4]``, formulas such as ``"y1 = x1 ^ x2"``), or rows of 0/1 as in `read_rows`.

    Examples
    --------
    >>> problem = problem_of("y1 = x1 ^ x2")
    >>> problem.inputs, problem.outputs, problem.threshold, problem.noise
    (2, 1, 1.0, 0.1)
    """
    if isinstance(task, Dataset):
        return _of_dataset(task)
    if isinstance(task, str) and not (task.lstrip().startswith("[") or "=" in task or INPUT.search(task)):
        raise SpecError(
            f"{task!r:.60} is no Boolean task: write a family such as [4,2,4], or formulas such as 'y1 = x1 ^ x2'; for "
            "a data set, pass what dovetail.load gives"
        )
    if isinstance(task, str) or (isinstance(task, list | tuple) and all(isinstance(n, int) for n in task)):
        task = boolean_task(task)
    if not isinstance(task, BooleanTask):
        names = [str(name) for name in getattr(task, "columns", ())]  # of a data frame
        task = read_rows(np.array(task) if names else task, names=names)
    table = task.rows_that_matter
    head: Head = "some bits" if bool(table.y.isnan().any()) else "bits"
    return Problem(
        task.name, table, table, head, 1.0, BOOLEAN_NOISE, task.outputs, True,
        input_names=task.input_names, output_names=task.output_names,
    )  # fmt: skip


def read_rows(rows: ArrayLike | Tensor, *, names: Sequence[str] = (), name: str = "table") -> BooleanTask:
    """Return the task of a truth table, from an array or a file: of outputs alone, or of inputs and outputs.

    A table has a row for each of its ``2**inputs`` inputs. Where the first columns count through all of them (x1 is the
    most significant bit) and others follow, those are the inputs; else all columns are outputs, in counting order.
    Names for the columns say it outright: those before a ``|``, or that begin with x, are inputs. Then rows may come in
    any order, and those that are not there do not matter, as a bit that is NaN does not.

    Parameters
    ----------
    rows : array
        Of 0 and 1.
    names : sequence of str
        What the columns are called, if they are: x1, x2, ... for inputs, y1, y2, ... for outputs; or any names, with a
        ``"|"`` between those of inputs and those of outputs.
    name : str
        What the task is called.

    Raises
    ------
    DataError
        When the first columns hold every input once, but in another order: they may be inputs, or outputs.

    Examples
    --------
    >>> read_rows([[0], [1], [1], [0]])
    BooleanTask('table', inputs=2, outputs=1)
    >>> read_rows([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
    BooleanTask('table', inputs=2, outputs=1)
    >>> read_rows([[1, 0], [0, 1]], names=["x1", "y1"]).y.flatten().tolist()
    [1.0, 0.0]
    >>> read_rows([[0, 0, 0], [1, 1, 1]], names=["a", "b", "|", "c"]).y.flatten().tolist()
    [0.0, nan, nan, 1.0]
    """
    bits = read_bits(name, rows)
    columns = [column for column in names if column != "|"]
    if names and len(columns) != bits.shape[1]:
        raise DataError(f"{name} has {len(columns)} names, but {bits.shape[1]} values in a row")
    named = [column.lower().startswith("x") for column in columns]
    if "|" in names:
        first = list(names).index("|")
        named = [place < first for place in range(len(columns))]
    if any(named):
        return _named_rows(name, bits, columns, sum(named) if all(named[: sum(named)]) else 0)
    whole = BooleanTask.from_table(bits, name=name)
    leading = whole.y[:, : whole.inputs].double()
    once = whole.outputs > whole.inputs and len(leading.unique(dim=0)) == len(leading)
    only_outputs = bool(names) and all(column.lower().startswith("y") for column in columns)
    if only_outputs or not once or bool(leading.isnan().any()):
        return whole
    order = _numbers(leading).argsort()
    if not torch.equal(order, torch.arange(len(order))):
        raise DataError(
            f"{name}: the first {whole.inputs} columns hold every input once, but not in counting order, so they may "
            "be inputs or outputs; sort the rows by their inputs, or name the columns, of a data frame or in a file's "
            "first line: x1, x2, ... for inputs, y1, y2, ... for outputs"
        )
    return BooleanTask.from_table(whole.y[order, whole.inputs :], name=name)


def _numbers(bits: Tensor) -> Tensor:
    """Return which rows of a truth table these inputs are."""
    return (bits.double() @ 2.0 ** torch.arange(bits.shape[1], dtype=torch.float64).flip(0)).long()


def _named_rows(name: str, bits: Tensor, columns: Sequence[str], inputs: int) -> BooleanTask:
    """Return the task of rows whose first columns are the inputs; rows that are not there do not matter."""
    outputs = bits.shape[1] - inputs
    twice = len(bits) - len(bits[:, :inputs].unique(dim=0)) if inputs else 0
    if not inputs or not outputs or twice or bool(bits[:, :inputs].isnan().any()):
        raise DataError(
            f"{name}: a truth table has each row of its inputs once, of 0 and 1, inputs first, and outputs after them; "
            f"this one has {len(bits):,} rows, {twice} of them again, and the columns {', '.join(columns)}"
        )
    check_size(name, inputs, outputs)
    table = torch.full((2**inputs, outputs), torch.nan)
    table[_numbers(bits[:, :inputs])] = bits[:, inputs:]
    task = BooleanTask.from_table(table, name=name)
    return replace(
        task, input_names=own_names(columns[:inputs], "x"), output_names=own_names(columns[inputs:], "y")
    )


def _of_dataset(data: Dataset) -> Problem:
    data.check_trainable()
    if data.task == "values":
        raise SpecError(
            f"{data.name} has values for targets; sculpt needs classes or bits, to tell when a task is done, and "
            "sculpt_channels takes values, too: dovetail.sculpt_channels(data, 'mlp:24,dropout=0', threshold=0.9), for "
            "90 % of their variance"
        )
    head: Head = "bits" if data.task == "bits" else "classes"
    train, val = (
        Split(split.x.reshape(len(split), -1).float(), split.y.float() if head == "bits" else split.y)
        for split in (data.train, data.val)
    )
    shape = data.input_shape
    image = (shape[1], shape[2]) if len(shape) == 3 and shape[0] == 1 else None
    names = () if data.preparation is None else data.preparation.feature_names
    return Problem(
        data.name, train, val, head, _THRESHOLDS.get(data.name), 0.0, data.outputs, image_shape=image,
        input_names=names or None, output_names=data.classes,
    )  # fmt: skip
