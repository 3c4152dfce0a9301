"""Values of one column of a table, read as numbers, days, truths or spellings.

What a value is, is decided once for each different one; columns that hold numbers already are taken as they are.
A row is called by its index, counted from 1, so that a part of a table names the rows as the whole does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...errors import DataError

LARGEST = 3e38
"""Numbers from here on, and infinity, count as missing: networks calculate in float32."""

BLANKS = frozenset(
    {
        *("", "?", "-", "--", ".", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none", "nil"),
        *("missing", "unknown"),
    }
)
"""Texts in small letters that stand for a missing number, date or truth value; as levels they are what they say."""

_CODE = re.compile(r"^\s*[+-]?(?:0[0-9]+|[0-9]{19,})\s*$", re.MULTILINE)
_ISO_DATE = re.compile(r"\s*\d{4}-\d{2}-\d{2}")
_IN_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_TRUTHS = {"true": 1.0, "false": 0.0}


def distinct(column: pd.Series[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """Return for each row the number of its value, -1 where it is missing, and the different values.

    Examples
    --------
    >>> codes, values = distinct(pd.Series(["b", None, "a", "b"], name="letter"))
    >>> codes.tolist(), values
    ([0, -1, 1, 0], ['b', 'a'])
    """
    try:
        codes, values = pd.factorize(column)
    except TypeError:
        rows = enumerate(column)
        place, odd = next(
            ((place, value) for place, value in rows if not _hashable(value)), (0, column.iloc[0])
        )
        raise DataError(
            f"{row_name(column, place)}: column {str(column.name)!r:.80} holds a value of type {type(odd).__name__}; "
            "a table has one number or text in each place, and arrays are for Dataset.from_arrays"
        ) from None
    return codes, list(values)


def numbers(column: pd.Series[Any], blanks: Collection[str] = ()) -> NDArray[np.float64]:
    """Return a column as numbers, NaN where they are missing or infinite.

    Parameters
    ----------
    column : pandas.Series
        Numbers, or texts of numbers.
    blanks : collection of str
        Texts that stand for a missing value, beside those that always do (`BLANKS`).

    Raises
    ------
    DataError
        For anything else, naming it.

    Examples
    --------
    >>> numbers(pd.Series(["1", "NA", " 2.5", "too small"], name="width"), blanks={"too small"}).tolist()
    [1.0, nan, 2.5, nan]
    """
    if column.dtype.kind == "m":
        read = column.dt.total_seconds().to_numpy(dtype=np.float64, na_value=np.nan)
    elif pd.api.types.is_numeric_dtype(column.dtype) and column.dtype.kind != "c":
        read = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        read = _looked_up(column, as_numbers, blanks, "no number")
    large = np.abs(read) >= LARGEST
    return np.where(large, np.nan, read) if large.any() else read


def days(column: pd.Series[Any], blanks: Collection[str] = ()) -> NDArray[np.float64]:
    """Return a column of dates as days since 1970, NaN where they are missing; see `numbers`.

    Examples
    --------
    >>> days(pd.Series(["1970-01-02", "1970-01-01T12:00"], name="when")).tolist()
    [1.0, 0.5]
    """
    if column.dtype.kind == "M":
        return _days_of(column)
    return _looked_up(column, as_days, blanks, "no date such as 2024-12-31")


def truths(column: pd.Series[Any], blanks: Collection[str] = ()) -> NDArray[np.float64]:
    """Return a column of truth values as 0 and 1, NaN where they are missing; see `numbers`.

    Examples
    --------
    >>> truths(pd.Series([True, None, "False", 1], name="member")).tolist()
    [1.0, nan, 0.0, 1.0]
    """
    if pd.api.types.is_bool_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return _looked_up(column, as_truths, blanks, "neither true nor false")


def spelled(value: object) -> str:
    """Return how a value of a column of levels is written: 3 and 3.0 alike, without white space around it.

    Examples
    --------
    >>> [spelled(value) for value in (" red", 3.0, 3, True, b"blue")]
    ['red', '3', '3', 'True', 'blue']
    """
    if isinstance(value, bytes):
        return value.decode(errors="replace").strip()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return (
        str(value).strip().encode(errors="replace").decode()
    )  # half a character (a surrogate) fits in no file


def row_name(column: pd.Series[Any], place: int) -> str:
    """Return what messages call the row at a place of a column.

    Examples
    --------
    >>> row_name(pd.Series([1, 2], index=[4, 6]), 1), row_name(pd.Series([1], index=["last"]), 0)
    ('row 7', "row 'last'")
    """
    label: object = column.index[place]
    return f"row {label + 1:,}" if isinstance(label, int | np.integer) else f"row {label!r:.40}"


def is_blank(value: object) -> bool:
    """Return whether a value is a text that stands for a missing number.

    Examples
    --------
    >>> is_blank(" NA"), is_blank("?"), is_blank("a")
    (True, True, False)
    """
    return isinstance(value, str | bytes) and spelled(value).casefold() in BLANKS


def holds_code(lines: str) -> bool:
    r"""Return whether a line is of digits that are no number: they begin with 0, as post codes do, or are too many.

    Examples
    --------
    >>> holds_code("12\n007"), holds_code("7\n0.07")
    (True, False)
    """
    return _CODE.search(lines) is not None


def as_numbers(values: Sequence[Any]) -> list[float | None]:
    """Return each value as a number, NaN for a blank; None for what is none."""
    return [_number(value) for value in values]


def as_days(values: Sequence[Any]) -> list[float | None]:
    """Return each date as days since 1970, NaN for a blank; None for what is none."""
    found: list[float | None] = [np.nan if is_blank(value) else None for value in values]
    dates = [place for place, value in enumerate(values) if _is_date(value)]
    read = _days_of(pd.Series([values[place] for place in dates], dtype=object))
    for place, one in zip(dates, read.tolist(), strict=True):
        found[place] = None if np.isnan(one) else one
    return found


def as_truths(values: Sequence[Any]) -> list[float | None]:
    """Return each truth value as 0 or 1, NaN for a blank; None for what is none."""
    return [_truth(value) for value in values]


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan if is_blank(value) else None
    # Python reads 1_000 as a number, people write codes so.
    return None if isinstance(value, str | bytes) and "_" in spelled(value) else number


def _truth(value: Any) -> float | None:
    if isinstance(value, str):
        return _TRUTHS.get(value.strip().casefold(), np.nan if is_blank(value) else None)
    is_one = isinstance(value, bool | np.bool_ | int | np.integer | float | np.floating) and value in (0, 1)
    return float(value) if is_one else None


def _is_date(value: Any) -> bool:
    return bool(_ISO_DATE.match(value)) if isinstance(value, str) else isinstance(value, date | np.datetime64)


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _days_of(column: pd.Series[Any]) -> NDArray[np.float64]:
    dates = pd.to_datetime(column, errors="coerce", format="ISO8601", utc=True)
    times = dates.dt.tz_localize(None).to_numpy()
    # pandas would count in nanoseconds, and those of far dates are too many.
    a_day = 86_400 * _IN_A_SECOND[np.datetime_data(times.dtype)[0]]
    return np.where(np.isnat(times), np.nan, times.view(np.int64) / a_day)


def _looked_up(
    column: pd.Series[Any],
    read: Callable[[Sequence[Any]], list[float | None]],
    blanks: Collection[str],
    what: str,
) -> NDArray[np.float64]:
    codes, values = distinct(column)
    found = np.full(len(values) + 1, np.nan)  # the last is for what is missing, whose code is -1
    for place, (value, one) in enumerate(zip(values, read(values), strict=True)):
        if one is not None:
            found[place] = one
        elif spelled(value) not in blanks:
            row = row_name(column, int(np.flatnonzero(codes == place)[0]))
            raise DataError(
                f"{row}: column {str(column.name)!r:.80} holds {value!r:.80}, which is {what}; put it right, or leave "
                "the place empty"
            )
    return found[codes]
