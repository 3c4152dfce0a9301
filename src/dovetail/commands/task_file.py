"""Boolean tasks from files: formulas, or a truth table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError

if TYPE_CHECKING:
    from ..data import BooleanTask

_MOST_BYTES = 50_000_000


def read_task_file(path: Path) -> BooleanTask:
    """Return the task in a file: lines with ``=`` are formulas, else rows of 0 and 1 are a truth table.

    A row of a table has the outputs for one input, in counting order; or the inputs too, when there are rows ``2**n``
    and the first n columns count.
    """
    from ..data import BooleanTask, boolean_task

    if path.stat().st_size > _MOST_BYTES:
        raise DataError(
            f"{str(path)!r} is larger than {_MOST_BYTES // 10**6} MB, too large for a Boolean task"
        )
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{str(path)!r} cannot be read as text: {error}") from error
    if "=" in text:
        return boolean_task(*(line for line in text.splitlines() if line.strip()))
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and not re.fullmatch(r"[\s,;01]*", lines[0]):
        lines = lines[1:]  # names of columns
    rows = []
    for number, line in enumerate(lines, 1):
        if not re.fullmatch(r"[\s,;01]*", line):
            raise DataError(f"{str(path)!r}, row {number}: {line.strip()[:40]!r} is not made of 0 and 1")
        rows.append([int(digit) for digit in re.findall("[01]", line)])
    if not rows or len({len(row) for row in rows}) > 1:
        raise DataError(f"{str(path)!r} has no rows of 0 and 1, or rows of different lengths")
    return BooleanTask.from_table(_outputs(rows), name=path.stem)


def _outputs(rows: list[list[int]]) -> list[list[int]]:
    """Return the columns of outputs: all, or those behind columns that count up."""
    inputs = len(rows).bit_length() - 1
    counting = [[number >> (inputs - 1 - bit) & 1 for bit in range(inputs)] for number in range(len(rows))]
    if inputs and len(rows[0]) > inputs and [row[:inputs] for row in rows] == counting:
        return [row[inputs:] for row in rows]
    return rows
