"""The input side of a truth table, and how large a table may be."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ...errors import DataError, ShapeError, SpecError

MAX_INPUTS = 20
MAX_OUTPUTS = 256
MAX_ENTRIES = 2**26
"""Numbers in a table, inputs and outputs together: a quarter of a gigabyte."""


def input_table(inputs: int) -> Tensor:
    """Return all rows of ``inputs`` bits in counting order, the first column most significant.

    Examples
    --------
    >>> input_table(2).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    rows = torch.arange(2**inputs, dtype=torch.int32)
    table = torch.empty(2**inputs, inputs, dtype=torch.float32)
    for column in range(inputs):
        table[:, column] = (rows >> (inputs - 1 - column)) & 1
    return table


def check_size(name: str, inputs: int, outputs: int) -> None:
    """Refuse a table without inputs or outputs, and one that would not fit in ordinary memory."""
    for count, most, what in ((inputs, MAX_INPUTS, "inputs"), (outputs, MAX_OUTPUTS, "outputs")):
        if not 1 <= count <= most:
            raise SpecError(f"{name}: {count} {what}; a Boolean task has 1 to {most}")
    if 2**inputs * (inputs + outputs) > MAX_ENTRIES:
        room = MAX_ENTRIES // 2**inputs - inputs
        raise SpecError(
            f"{name}: {outputs} outputs are too many; with {inputs} inputs there is room for {room}"
        )


def read_bits(name: str, rows: ArrayLike | Tensor) -> Tensor:
    """Return rows of 0 and 1 as float32, NaN where a bit does not matter, after checking that they are that."""
    try:
        table = (
            rows.detach().cpu() if isinstance(rows, Tensor) else torch.as_tensor(np.array(rows, order="C"))
        )
        binary = bool(((table == 0) | (table == 1) | table.isnan()).all()) and not table.is_complex()
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(
            f"{name}: a truth table is an array of 0 and 1; this cannot be read: {error}"
        ) from None
    if table.dim() != 2:
        raise ShapeError(f"{name}: a truth table is [2**inputs, outputs], not {list(table.shape)}")
    if not binary:
        raise DataError(f"{name}: a truth table holds only 0 and 1, and NaN for what does not matter")
    return table.to(torch.float32, copy=True)


def read_table(name: str, y: ArrayLike | Tensor) -> Tensor:
    """Return the output side of a truth table, NaN where a bit does not matter, after checking that it is one."""
    table = read_bits(name, y)
    rows, outputs = table.shape
    if rows < 2 or rows & (rows - 1):
        raise ShapeError(f"{name}: {rows} rows; a truth table has a row for every input: 2, 4, 8, 16, ...")
    check_size(name, rows.bit_length() - 1, outputs)
    nothing = table.isnan().all(0).nonzero().flatten().tolist()
    if nothing:
        raise DataError(f"{name}: output {nothing[0] + 1} does not matter in any row")
    return table
