"""Rows as JSON: an object with a value for each column, or a list of values; one after the other, or in one list."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...errors import DataError
from ..preparation import Numbers, Preparation, Table
from ..preparation.base import MOST_FEATURES
from .json_text import first_item, values_in, whole_text
from .text_items import is_row
from .text_lines import TextLines
from .wording import listed

_BEGINS = re.compile(r"\s*(\{\s*([\"}]|$)|\[\s*([-\"{\[\]0-9]|null|true|false|NaN|$))")
"""How JSON begins; a name of a column may begin with a bracket, too."""

_MOST_AXES = 4
"""Of a sample, as lists in lists."""

_MOST_VALUES = 2**26
"""Of all objects, those that are left out among them."""


def holds_json(lines: TextLines) -> bool:
    r"""Return whether lines are JSON, by the first that is not empty.

    Examples
    --------
    >>> import io
    >>> for text in ('\n{"width": 3}\n', "[3, 4]\n", "[width],[height]\n"):
    ...     with TextLines(io.StringIO(text)) as lines:
    ...         print(holds_json(lines))
    True
    True
    False
    """
    first = next((line for line in lines if line.strip()), "")
    return _BEGINS.match(first) is not None


def is_json_table(path: Path, target: str | None = None) -> bool:
    """Return whether a ``.json`` or ``.jsonl`` file holds rows of a table, not texts, by its first object."""
    if path.suffix.lower() not in (".json", ".jsonl"):
        return False
    with TextLines(path) as lines:
        return is_row(first_item(lines), target)


def read_json_rows(lines: TextLines, preparation: Preparation | None) -> pd.DataFrame | NDArray[np.float64]:
    r"""Return rows for a part of tables or arrays: a table, or an array ``[rows, numbers]``.

    A row is an object, ``{"width": 3, "colour": "red"}``, or a list of the values of all columns in their order,
    ``[3, "red"]``; of a picture it may be lists in lists. Rows stand one after the other, as in lines, or all in one
    list. What an object leaves out is missing in its row, as null is.

    Parameters
    ----------
    lines : TextLines
        The lines.
    preparation : Preparation or None
        That of the part, which says how many values a row has.

    Raises
    ------
    DataError
        For what is no such row, naming it.

    Examples
    --------
    >>> import io
    >>> with TextLines(io.StringIO('{"width": 3, "height": 4}\n{"height": 5}\n')) as lines:
    ...     read_json_rows(lines, None).to_dict("list")
    {'width': [3.0, nan], 'height': [4, 5]}
    >>> with TextLines(io.StringIO("[[3, 4], [5, 6]]")) as lines:
    ...     read_json_rows(lines, Numbers(raw_shape=(2,))).tolist()
    [[3.0, 4.0], [5.0, 6.0]]
    """
    values = values_in(whole_text(lines, "send the rows in parts, or as csv"), lines.name)
    rows = list(chain.from_iterable(_rows_in(value, preparation) for value in values))
    if not rows:
        raise DataError(f"{lines.name} holds no rows")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping | list):
            hint = '; a row is an object, {"width": 3}, or a list of values, [3, 4]'
            raise _wrong(lines.name, number, f"is {row!r:.40}{hint}")
        if isinstance(row, Mapping) != isinstance(rows[0], Mapping):
            raise _wrong(lines.name, number, "is not like the first: rows are all objects, or all lists")
    if isinstance(rows[0], Mapping):
        return _of_objects(rows, lines.name)
    if isinstance(preparation, Table):
        return _of_lists(rows, [column.name for column in preparation.columns], lines.name)
    return _of_numbers(rows, _size_of(preparation), lines.name)


def _rows_in(value: Any, preparation: Preparation | None) -> list[Any]:
    """Return the rows that a value holds: it is a list of them, or one itself."""
    if not isinstance(value, list) or not (value and isinstance(value[0], Mapping | list)):
        return [] if value == [] else [value]
    if isinstance(value[0], Mapping) or isinstance(preparation, Table):
        return value
    # Lists in a list are the axes of one sample, if together they are as many numbers as it has.
    size = _size_of(preparation)
    return [value] if size in (None, len(_flat(value))) else value


def _size_of(preparation: Preparation | None) -> int | None:
    """Return how many numbers a sample has, where that is known."""
    return math.prod(preparation.raw_shape) if isinstance(preparation, Numbers) else None


def _of_objects(rows: list[Any], name: str) -> pd.DataFrame:
    fields = dict.fromkeys(chain.from_iterable(rows))
    if not fields:
        raise DataError(f'{name} holds objects without fields; write {{"width": 3}}, a value for each column')
    if len(fields) > MOST_FEATURES or len(fields) * len(rows) > _MOST_VALUES:
        raise DataError(
            f"{name} has {len(fields):,} different fields in {len(rows):,} objects; these are too many, send the rows "
            "in parts, or only the columns that are needed"
        )
    return pd.DataFrame({field: [row.get(field) for row in rows] for field in fields})


def _of_lists(rows: list[Any], names: list[str], name: str) -> pd.DataFrame:
    for number, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise _wrong(
                name,
                number,
                f"has {len(row):,} values, and there are {len(names):,} columns: {listed(names, most=20)}; an object, "
                '{"name": value}, may leave some out',
            )
    return pd.DataFrame(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def _of_numbers(rows: list[Any], size: int | None, name: str) -> NDArray[np.float64]:
    flat = [_flat(row) for row in rows]
    count = len(flat[0]) if size is None else size
    for number, values in enumerate(flat, 1):
        if len(values) != count:
            raise _wrong(name, number, f"has {len(values):,} values, and a sample has {count:,}")
        odd = [value for value in values if not (value is None or isinstance(value, int | float))]
        if odd:
            raise _wrong(name, number, f"holds {odd[0]!r:.40} in place of a number")
    try:
        return np.array(flat, dtype=np.float64)  # null becomes NaN
    except OverflowError:
        raise DataError(f"{name} holds a whole number that is too large for any computer's") from None


def _flat(row: list[Any]) -> list[Any]:
    """Return the values in lists in lists, as deep as a sample has axes."""
    for _ in range(_MOST_AXES - 1):
        if not any(isinstance(value, list) for value in row):
            break
        row = [one for value in row for one in (value if isinstance(value, list) else [value])]
    return row


def _wrong(name: str, number: int, what: str) -> DataError:
    return DataError(f"{name}: row {number:,} {what}")
