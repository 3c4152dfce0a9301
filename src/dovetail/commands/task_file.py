"""Boolean tasks from files: formulas, or a truth table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError, DovetailError

if TYPE_CHECKING:
    from ..data import BooleanTask

_MOST_BYTES = 50_000_000
_BITS = re.compile(r"[\s,;01]+")


def read_task_file(path: Path) -> BooleanTask:
    """Return the task in a file: lines with ``=`` are formulas, else rows of 0 and 1 are a truth table.

    Tables are read as arrays are (see `read_rows`): outputs alone in counting order, or inputs first. A first line with
    names such as ``x1,x2,y1`` says which is which, and then rows may come in any order. What follows a ``#`` is a
    comment.
    """
    from ..data import boolean_task
    from ..sculpting.pruning.problem import read_rows

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
    try:
        return read_rows(_rows(str(path), lines), names=names, name=path.stem)
    except DovetailError as error:
        raise type(error)(f"in {str(path)!r}: {error}") from error


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
