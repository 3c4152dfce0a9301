"""Boolean tasks from files: formulas, or a truth table."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError, DovetailError
from ..io.plain import open_plain

if TYPE_CHECKING:
    from ..data import BooleanTask

_MOST_BYTES = 50_000_000
_BITS = re.compile(r"([\s,;01|]|-(?![0-9]))+")
"""A row of a truth table: "-" is a bit that does not matter, "|" may stand between inputs and outputs."""
_TABLES = (".csv", ".tsv")
_DATA = (".parquet", ".npz", ".npy", ".jsonl", ".zip")
_LOOKED_AT = 2**16
"""Bytes of a table from which it is told what it is."""


def is_task_file(path: Path) -> bool:
    """Whether there are formulas or a truth table at a path, and no data of other kinds.

    Of ``.csv`` files the first rows tell: those of a truth table have nothing but 0 and 1. Data that looks the same is
    named with an option, ``votes.csv:target=party``.
    """
    if path.suffix.lower() not in _TABLES:
        return not path.is_dir() and path.suffix.lower() not in _DATA
    with open_plain(path) as file:
        begun = file.read(_LOOKED_AT).decode("utf-8-sig", errors="replace")
    first, *rows = _lines(begun) or [""]
    if len(begun) == _LOOKED_AT:  # the last line may be cut
        rows = rows[:-1]
    return "=" in first or all(map(_BITS.fullmatch, rows))


_FORMULA = re.compile(r"[=&^~]|\b(and|or|not)\b")
"""What no truth table has, nor the names of its columns."""


def read_task_file(path: Path) -> BooleanTask:
    """Return the task in a file: formulas, or rows of 0 and 1 that are a truth table.

    Tables are read as arrays are (see `read_rows`): outputs alone in counting order, or inputs first. A first line with
    names such as ``x1,x2,y1`` or ``a,b|sum`` says which is which; then rows may come in any order, and those that are
    not there do not matter, as a ``-`` does not. What follows a ``#`` is a comment.
    """
    from ..data import boolean_task
    from ..sculpting.pruning.problem import read_rows

    try:
        with open_plain(path) as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise DataError(
                f"{str(path)!r} is larger than {_MOST_BYTES // 10**6} MB, too large for a Boolean task"
            )
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{str(path)!r} cannot be read as text: {error}") from error
    lines = _lines(text)
    if not lines:
        raise DataError(f"{str(path)!r} is empty; write formulas, or rows of 0 and 1")
    named = len(lines) > 1 and all(map(_BITS.fullmatch, lines[1:]))  # "a | b" alone is a formula
    if _FORMULA.search(lines[0]) or ("|" in lines[0] and not named):
        return boolean_task(*lines)
    names = [] if _BITS.fullmatch(lines[0]) else re.findall(r"[^\s,;|]+|\|", lines.pop(0))
    try:
        return read_rows(_rows(str(path), lines), names=names, name=path.stem)
    except DovetailError as error:
        raise type(error)(f"in {str(path)!r}: {error}") from error


def _lines(text: str) -> list[str]:
    """Return the lines of a text that hold something besides comments."""
    return [line for line in (line.split("#")[0].strip() for line in text.splitlines()) if line]


def _rows(path: str, lines: list[str]) -> list[list[float]]:
    rows = []
    for number, line in enumerate(lines, 1):
        if not _BITS.fullmatch(line):
            raise DataError(f"{path!r}, row {number}: {line[:40]!r} is not made of 0 and 1")
        rows.append([math.nan if digit == "-" else float(digit) for digit in re.findall("[01-]", line)])
        if len(rows[-1]) != len(rows[0]):
            raise DataError(f"{path!r}, row {number}: {len(rows[-1])} values, but row 1 has {len(rows[0])}")
    if not rows:
        raise DataError(f"{path!r} has names but no rows of 0 and 1")
    return rows
