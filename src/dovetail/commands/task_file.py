"""Boolean tasks from files: formulas, or a truth table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError

if TYPE_CHECKING:
    from ..data import BooleanTask

_MOST_BYTES = 50_000_000
_BITS = re.compile(r"[\s,;01]+")


def read_task_file(path: Path) -> BooleanTask:
    """Return the task in a file: lines with ``=`` are formulas, else rows of 0 and 1 are a truth table.

    Rows of a table hold the outputs for one input each, in counting order (x1 is the most significant bit); or the
    inputs first, and then rows may come in any order. A first line with names such as ``x1,x2,y1`` says which is which.
    What follows a ``#`` is a comment.
    """
    from ..data import BooleanTask, boolean_task

    if path.stat().st_size > _MOST_BYTES:
        raise DataError(
            f"{str(path)!r} is larger than {_MOST_BYTES // 10**6} MB, too large for a Boolean task"
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{str(path)!r} cannot be read as text: {error}") from error
    lines = [line for line in (line.split("#")[0].strip() for line in text.splitlines()) if line]
    if not lines:
        raise DataError(f"{str(path)!r} is empty; write formulas, or rows of 0 and 1")
    if "=" in lines[0]:
        return boolean_task(*lines)
    names = [] if _BITS.fullmatch(lines[0]) else re.split(r"[\s,;]+", lines.pop(0))
    return BooleanTask.from_table(_outputs(str(path), names, _rows(str(path), lines)), name=path.stem)


def _rows(path: str, lines: list[str]) -> list[list[int]]:
    rows = []
    for number, line in enumerate(lines, 1):
        if not _BITS.fullmatch(line):
            raise DataError(f"{path!r}, row {number}: {line[:40]!r} is not made of 0 and 1")
        rows.append([int(digit) for digit in re.findall("[01]", line)])
        if len(rows[-1]) != len(rows[0]):
            raise DataError(f"{path!r}, row {number}: {len(rows[-1])} values, but row 1 has {len(rows[0])}")
    if not rows:
        raise DataError(f"{path!r} has names but no rows of 0 and 1")
    return rows


def _outputs(path: str, names: list[str], rows: list[list[int]]) -> list[list[int]]:
    """Return the outputs in the order of their inputs, if the table has inputs."""
    if names and len(names) != len(rows[0]):
        raise DataError(f"{path!r} has {len(names)} names, but {len(rows[0])} values in a row")
    inputs = sum(name.lower().startswith("x") for name in names) or len(rows).bit_length() - 1
    keys = [sum(bit << place for place, bit in enumerate(reversed(row[:inputs]))) for row in rows]
    complete = sorted(keys) == list(range(2**inputs)) and len(rows[0]) > inputs
    named = [name.lower().startswith("x") for name in names]
    if any(named) and not (all(named[:inputs]) and complete):
        raise DataError(
            f"{path!r}: a truth table with {inputs} inputs has each of its {2**inputs} rows once, inputs first; this "
            f"one has {len(rows)} rows, {len(set(keys))} of them different"
        )
    if complete and inputs:
        return [row[inputs:] for _, row in sorted(zip(keys, rows, strict=True), key=lambda pair: pair[0])]
    return rows
