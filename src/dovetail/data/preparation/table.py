"""Table: rows with named columns, each turned into features by what training rows hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal, Self, cast

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from pydantic import Field, model_validator
from torch import Tensor

from ...errors import DataError
from .base import MOST_FEATURES, Preparation
from .column import CONSTANT, MOST_CHARACTERS, MOST_LEVELS, Column, Date, Levels, Number, Truth, Unused
from .not_samples import refuse_data_set
from .values import (
    as_days,
    as_numbers,
    as_truths,
    days,
    distinct,
    holds_code,
    numbers,
    spelled,
    truths,
)

_MOST_ODD = 0.1
"""Share of the rows of a column of numbers that may hold a text."""

_FEWEST_COUNTED = 10
"""Rows that a column has to count before it is taken for one that only counts them."""

_WHOLE_BELOW = 2**53
"""From here on float64 does not hold every whole number."""

_ROW_NAMES = frozenset({"id", "index", "row", "rowid", "uid", "unnamed: 0"})

_NAMED = 5

_Read = Callable[[Sequence[Any]], list[float | None]]


class Table(Preparation):
    """Rows of a table, its columns turned into features side by side.

    What a column holds is decided by these rules, the first that fits:

    - pandas' categories are levels; its numbers (whole ones with few values, too), dates, durations (as seconds) and
      truth values are what they are;
    - texts that all say true or false are truth values;
    - texts of numbers are numbers, unless one begins with 0 as codes do ("007");
    - texts of dates as 2024-12-31, with a time or without, are days since 1970;
    - everything else is levels: a feature for each of the 50 that are most frequent.

    Among numbers, dates and truth values, "NA", "?" and their like (`values.BLANKS`) are missing values. Other texts
    are so too if they are in at most a tenth of the rows, among more than 50 different numbers, and are kept by name:
    a text that was not met before is refused. Among levels a text is what it says: "NA" may be a country.

    Missing numbers are the median of the training rows. Left out are columns that are constant, empty, or hold
    sentences; those of texts that differ in nearly every row; and those that only number the rows: whole numbers that
    go up from row to row, or all differ under a name such as "id". `describe` says why.

    Raw rows are a DataFrame, a dict with a list for each column, or a list with a dict for each row. Columns are found
    by name; others than those of the training are passed over. An array, or a list of lists, has no names: it holds the
    values of all columns, the unused ones too, in their order.

    Attributes
    ----------
    columns : tuple of Column
        What is done with each.

    Examples
    --------
    >>> rows = pd.DataFrame({"width": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    >>> table = Table.fitted(rows)
    >>> table.feature_names
    ('width', 'colour=red', 'colour=blue')
    >>> table([{"colour": "blue", "width": 2}])
    tensor([[0., 0., 1.]])
    >>> table([[2, "blue"]])
    tensor([[0., 0., 1.]])
    """

    kind: Literal["table"] = "table"
    columns: Annotated[tuple[Column, ...], Field(min_length=1, max_length=MOST_FEATURES)]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        twice = _repeated(column.name for column in self.columns)
        if twice is not None:
            raise ValueError(f"two columns are called {twice!r:.80}")
        count = sum(len(column.features) for column in self.columns)
        if not 0 < count <= MOST_FEATURES:
            raise ValueError(f"columns come to {count:,} features; 1 to {MOST_FEATURES:,} are possible")
        return self

    @classmethod
    def fitted(cls, rows: object, train: NDArray[np.int64] | None = None) -> Self:
        """Return the preparation for rows like these.

        Parameters
        ----------
        rows : DataFrame, dict or list of dict
            Rows without the column of classes.
        train : array of int, optional
            Which of them train; by default all. Medians, scales and levels are those of training rows. The others are
            looked at only for what kind of values a column has.

        Raises
        ------
        DataError
            When no column can be used, naming why.
        """
        return cls.of(decided_columns(as_frame(rows), train))

    @classmethod
    def of(cls, columns: Sequence[Column]) -> Self:
        """Return the preparation that does this with each column; see `fitted`."""
        if all(isinstance(column, Unused) for column in columns):
            raise DataError(f"no column can be used: {_listed_with_reasons(columns) or 'there is none'}")
        count = sum(len(column.features) for column in columns)
        if count > MOST_FEATURES:
            raise DataError(
                f"{len(columns):,} columns come to {count:,} features; {MOST_FEATURES:,} are the most; leave some out"
            )
        return cls(columns=tuple(columns))

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Number of features."""
        return (len(self.feature_names),)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of columns; of levels, ``column=level``."""
        return tuple(feature for column in self.columns for feature in column.features)

    @property
    def level_names(self) -> frozenset[str]:
        """Names of columns of levels, whose values are texts even where they look like numbers."""
        return frozenset(column.name for column in self.columns if isinstance(column, Levels))

    def __call__(self, raw: object) -> Tensor:
        """Return rows as features."""
        frame = as_frame(self._named(raw))
        used = [column for column in self.columns if column.features]
        given = {str(name): column for name, column in frame.items()}
        missing = [column.name for column in used if column.name not in given]
        if missing:
            raise DataError(
                f"the table has no {'column' if len(missing) == 1 else 'columns'} {_listed(missing)}, which "
                f"{'was' if len(missing) == 1 else 'were'} there in training; it has {_listed(given) or 'none at all'}"
            )
        x = np.zeros((len(frame), *self.input_shape), np.float32)
        start = 0
        for column in used:
            end = start + len(column.features)
            column.write(given[column.name], x[:, start:end])
            start = end
        return torch.from_numpy(x)

    def _named(self, raw: object) -> object:
        """Return rows without names of columns as a DataFrame; anything else as it is."""
        rows: Any = raw.numpy(force=True) if isinstance(raw, Tensor) else raw
        if isinstance(rows, np.ndarray):
            if rows.ndim != 2:
                return raw
            if rows.dtype.kind != "O" and self.level_names:
                raise DataError(
                    f"an array of {rows.dtype} has no texts, and there are columns of texts: "
                    f"{_listed(sorted(self.level_names))}; give raw rows as a DataFrame, or an array of dtype object "
                    "(prepared samples of a data set are given as a split, data.test, not as its x)"
                )
        elif not (
            isinstance(rows, list | tuple) and rows and all(isinstance(row, list | tuple) for row in rows)
        ):
            return raw
        names = [column.name for column in self.columns]
        odd = next((n for n, row in enumerate(rows) if len(row) != len(names)), None)
        if odd is not None:
            raise DataError(
                f"row {odd + 1:,} has {len(rows[odd]):,} values, and there are {len(names):,} columns: "
                f"{_listed(names)}; a DataFrame, or a dict for each row, has names and may leave unused ones out"
            )
        return pd.DataFrame(rows, columns=names)

    def describe(self) -> str:
        """Return how many columns of each kind there are."""
        said = []
        for kind, one, several in (
            (Number, "number", "numbers"),
            (Date, "date", "dates"),
            (Truth, "truth value", "truth values"),
            (Levels, "of levels", "of levels"),
        ):
            names = [column.name for column in self.columns if isinstance(column, kind)]
            if names:
                which = f" ({_listed(names, quote=False)})" if kind is Levels else ""
                said.append(f"{len(names):,} {one if len(names) == 1 else several}{which}")
        count = len(self.columns)
        unused = _listed_with_reasons(self.columns)
        return f"{count:,} {'column' if count == 1 else 'columns'}: {', '.join(said)}" + (
            f"; unused: {unused}" if unused else ""
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the data should know: which columns are left out, which texts count as missing."""
        notes = []
        unused = _listed_with_reasons(self.columns)
        if unused:
            notes.append(f"columns that are not used: {unused}")
        for column in self.columns:
            if isinstance(column, Number | Date) and column.blanks:
                notes.append(f"column {column.name!r:.80}: {_listed(column.blanks)} count as missing values")
        return tuple(notes)


def as_frame(raw: object) -> pd.DataFrame:
    """Return raw rows as a DataFrame whose columns have texts as names, each once.

    Raises
    ------
    DataError
        For what has no named columns.

    Examples
    --------
    >>> as_frame([{"a": 1, "b": "x"}, {"a": 2}]).columns.tolist()
    ['a', 'b']
    """
    frame = _frame(raw)
    names = [spelled(name) for name in frame.columns]
    long = next((name for name in names if len(name) > MOST_CHARACTERS), None)
    if long is not None:
        raise DataError(
            f"the name of a column has {len(long):,} characters ({long!r:.40}…); give it a shorter one"
        )
    twice = _repeated(names)
    if twice is not None:
        raise DataError(f"two columns are called {twice!r}; give each a name of its own")
    return frame if names == frame.columns.tolist() else frame.set_axis(names, axis=1)


def decided_columns(frame: pd.DataFrame, train: NDArray[np.int64] | None = None) -> list[Column]:
    """Return what is done with each column, by the rules of `Table`; see `Table.fitted`."""
    return [_decided(str(name), column, train) for name, column in frame.items()]


def _decided(name: str, column: pd.Series[Any], train: NDArray[np.int64] | None) -> Column:
    chosen = slice(None) if train is None else train
    dtype = column.dtype
    is_category = isinstance(dtype, pd.CategoricalDtype)
    if pd.api.types.is_bool_dtype(dtype) and not is_category:
        return Truth.fitted(name, truths(column)[chosen])
    if dtype.kind == "M":
        return Date.fitted(name, days(column)[chosen])
    if dtype.kind == "m" or (pd.api.types.is_numeric_dtype(dtype) and dtype.kind != "c"):
        return _number(name, column, (), chosen)
    if not is_category:
        codes, values = distinct(column)
        counts = np.bincount(codes[codes >= 0], minlength=len(values))
        if any(isinstance(value, str | bool | np.bool_) for value in values) and (
            _odd(values, counts, as_truths) == ()
        ):
            return Truth.fitted(name, truths(column)[chosen])
        has_code = holds_code("\n".join(value for value in values if isinstance(value, str)))
        odd = None if has_code else _odd(values, counts, as_numbers)
        if odd is not None:
            return _number(name, column, odd, chosen)
        odd = _odd(values, counts, as_days)
        if odd is not None:
            return Date.fitted(name, days(column, odd)[chosen], odd)
    return Levels.fitted(name, column.iloc[chosen])


def _number(
    name: str, column: pd.Series[Any], odd: tuple[str, ...], chosen: NDArray[np.int64] | slice
) -> Column:
    values = numbers(column, odd)
    if _counts_rows(name, column, values):
        return Unused(name=name, why="it only numbers the rows")
    found = Number.fitted(name, values[chosen], odd)
    if isinstance(found, Unused) and found.why == CONSTANT:
        return Unused(name=name, why=_why_constant(column.iloc[chosen], values[chosen]))
    return found


def _why_constant(column: pd.Series[Any], values: NDArray[np.float64]) -> str:
    """Return why numbers that are all about the same are left out: numbers of 18 digits may well be written apart."""
    there = ~np.isnan(values)
    column, values = column[there], values[there]
    if values.min() < values.max() or _written_apart(column):
        return "its values differ too little for their size to be told apart as numbers"
    if column.dtype.kind == "f" and abs(values[0]) >= _WHOLE_BELOW:
        return "its values are too large to be told apart as numbers, if they differ"
    return CONSTANT


def _written_apart(column: pd.Series[Any]) -> bool:
    """Return whether there are different numbers, however near to each other, in a column of nothing but numbers."""
    values = distinct(column)[1]
    if column.dtype.kind != "O":
        return len(values) > 1
    try:
        return len({Decimal(spelled(value)) for value in values}) > 1
    except InvalidOperation:  # truth values, fractions
        return False


def _odd(values: Sequence[Any], counts: NDArray[np.intp], read: _Read) -> tuple[str, ...] | None:
    """Return the texts that count as missing among values of a kind, beside blanks; None for values of another kind."""
    found = read(values)
    none = np.array([one is None for one in found], dtype=bool)
    of_kind = len(found) - int(np.isnan(np.array(found, dtype=np.float64)).sum())  # None becomes NaN here
    if not of_kind or not none.any():
        return () if of_kind else None
    odd = {spelled(value) for value, is_none in zip(values, none, strict=True) if is_none}
    few = len(odd) <= MOST_LEVELS and counts[none].sum() <= _MOST_ODD * counts.sum()
    short = all(len(text) <= MOST_CHARACTERS for text in odd)
    return tuple(sorted(odd)) if few and short and of_kind > MOST_LEVELS else None


def _counts_rows(name: str, column: pd.Series[Any], values: NDArray[np.float64]) -> bool:
    """Return whether whole numbers say which row it is: they go up from row to row, or are called so and all differ."""
    if len(values) <= _FEWEST_COUNTED or column.dtype.kind == "f" or not (values % 1 == 0).all():
        return False
    steps = np.diff(values)
    if (steps >= 1).all() and values[-1] - values[0] < 2 * len(
        values
    ):  # rows in between may have been left out
        return True
    small = name.casefold()
    return (small in _ROW_NAMES or small.endswith(("_id", " id"))) and len(np.unique(values)) == len(values)


def _frame(raw: object) -> pd.DataFrame:
    if isinstance(raw, pd.DataFrame):
        return raw
    refuse_data_set(raw)
    rows = isinstance(raw, list | tuple) and all(isinstance(row, Mapping) for row in raw)
    if not rows and not isinstance(raw, Mapping):
        raise DataError(
            "rows of a table are a DataFrame, a dict with a list for each column, or a list with a dict for each row; "
            f"got {type(raw).__name__}{_single_row(raw)}"
        )
    try:
        frame: pd.DataFrame = pd.DataFrame(cast(Any, raw))
        return frame
    except (TypeError, ValueError) as error:
        hint = "a single row is a list of one dict" if isinstance(raw, Mapping) else "each row is a dict"
        raise DataError(f"this is not a table ({error}); {hint}") from None


def _single_row(raw: object) -> str:
    """Return how a single row is written, if that is what somebody seems to have."""
    if isinstance(raw, pd.Series):
        return "; a single row is frame.iloc[[0]], with two brackets"
    is_row = getattr(raw, "ndim", 0) == 1 or (isinstance(raw, list | tuple) and len(raw) > 0)
    return "; a single row is [row]" if is_row else ""


def _repeated(names: Iterable[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)


def _listed(names: Iterable[str], *, quote: bool = True) -> str:
    names = list(names)
    shown = ", ".join(f"{name!r:.80}" if quote else f"{name:.80}" for name in names[:_NAMED])
    return shown + (f", … ({len(names):,})" if len(names) > _NAMED else "")


def _listed_with_reasons(columns: Iterable[Column]) -> str:
    return _listed(
        (f"{column.name} ({column.why})" for column in columns if isinstance(column, Unused)), quote=False
    )
