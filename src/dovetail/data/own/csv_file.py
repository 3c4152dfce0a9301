"""Csv: lines of fields as columns of numbers and texts, without guesses that lose what is written."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...errors import DataError
from ..preparation.base import MOST_FEATURES
from ..preparation.values import BLANKS, holds_code
from .text_lines import MOST_CHARACTERS, TextLines

MOST_MEMORY = 2**32
"""Bytes that the columns of a table may take, about."""

_DELIMITERS = ",;\t|"
_LINES_LOOKED_AT = 20
_FIELDS_AT_ONCE = 2**16

_OF_NUMBERS = b"0123456789+-.eE \n"
_BYTES_OF_TEXT = 120
"""Of a text that is kept once, beside its letters."""

_FRACTION = re.compile(r"[+-]?[0-9]*\.[0-9]+")


def read_csv(lines: TextLines, delimiter: str | None = None, *, texts: Collection[str] = ()) -> pd.DataFrame:
    r"""Return lines of fields as a table; the first line names the columns.

    A column whose fields are all numbers or blanks holds numbers, any other one texts as they are written. Blanks are
    empty fields, and among numbers "NA", "?" and their like (`values.BLANKS`); in a column of texts, "NA" is a text
    like any other. Digits that begin with 0, as in "007", are no number, and neither is "true". Where semicolons
    separate, numbers may have a comma for the point. Empty lines are passed over, and so is a last column without
    name and fields.

    Parameters
    ----------
    lines : TextLines
        The lines.
    delimiter : str, optional
        What is between fields; by default a comma, semicolon, tab or bar (``|``), by which of them gives the same
        number of fields in each of the first lines.
    texts : collection of str
        Names of columns that hold texts even if all fields are numbers.

    Raises
    ------
    DataError
        For lines with more or fewer fields than there are names, quotes that are not closed, names that are there
        twice or seem to be values, no line of values, more columns or fields than memory holds: naming the line.

    Examples
    --------
    >>> import io
    >>> with TextLines(io.StringIO("id;width;origin\n007;1,5;NA\n008;;FR\n")) as lines:
    ...     print(read_csv(lines).to_dict("list"))
    {'id': ['007', '008'], 'width': [1.5, nan], 'origin': ['NA', 'FR']}
    """
    delimiter = delimiter or _delimiter(lines)
    names = _names(lines, delimiter)
    columns = [_Fields(as_text=name in texts, decimal_comma=delimiter == ";") for name in names]
    _fill(lines, delimiter, columns)
    if any(column.lost for column in columns):
        # A field far down has shown that a column holds texts; those above are read again as they are written.
        again = [_Fields(as_text=True, kept=column.lost) for column in columns]
        _fill(lines, delimiter, again)
        columns = [new if new.kept else column for new, column in zip(again, columns, strict=True)]
    made = [column.joined() for column in columns]
    if not len(made[0]):
        raise DataError(f"{lines.name} holds the names of columns, and no line of values below them")
    if not names[-1] and pd.isna(made[-1]).all():
        names, made = names[:-1], made[:-1]
    called = [name or f"column {place}" for place, name in enumerate(names, 1)]
    _check_names(lines, called)
    # Without a type, pandas would look at texts once more.
    return pd.DataFrame(
        {name: pd.Series(values, dtype=values.dtype) for name, values in zip(called, made, strict=True)}
    )


class _Fields:
    """The fields of a column: numbers for as long as all of them are, then texts."""

    def __init__(self, *, as_text: bool = False, kept: bool = True, decimal_comma: bool = False) -> None:
        self._as_text = as_text
        self._decimal_comma = decimal_comma
        self._pieces: list[NDArray[Any]] = []
        self._texts: dict[str, str | None] = {"": None}
        self.kept = kept
        self.lost = False

    def add(self, fields: tuple[str, ...]) -> int:
        """Take more fields; return how many bytes they take about."""
        if not self.kept or self.lost:
            return 0
        if not self._as_text:
            numbers = _numbers(fields, self._decimal_comma)
            if numbers is not None:
                self._pieces.append(numbers)
                return numbers.nbytes
            self._as_text = True
            if self._pieces:
                self.lost = True
                self._pieces.clear()
                return 0
        new = set(fields) - self._texts.keys()
        self._texts.update(zip(new, new, strict=True))
        piece = np.empty(len(fields), dtype=object)
        piece[:] = [*map(self._texts.__getitem__, fields)]
        self._pieces.append(piece)
        return piece.nbytes + sum(map(len, new)) + _BYTES_OF_TEXT * len(new)

    def joined(self) -> NDArray[Any]:
        """Return all of them."""
        return np.concatenate(self._pieces) if self._pieces else np.zeros(0)


def _numbers(fields: tuple[str, ...], decimal_comma: bool) -> NDArray[Any] | None:
    """Return fields as numbers, NaN for blanks; None when one is neither."""
    different = set(fields)
    different.discard("")
    found = _read(different, decimal_comma)
    if found is None:
        blanks = {text for text in different if text.strip().casefold() in BLANKS}
        found = _read(different - blanks, decimal_comma) if blanks else None
        if found is None:
            return None
        found |= dict.fromkeys(blanks, np.nan)
    found[""] = np.nan
    return np.array([*map(found.__getitem__, fields)])  # whole numbers stay whole, unless some are missing


def _read(texts: set[str], decimal_comma: bool) -> dict[str, float] | None:
    """Return what number each text is; None when one is none."""
    joined = "\n".join(texts)
    if decimal_comma and "," in joined:
        read = _read({text.replace(",", ".") for text in texts}, False)
        return read and {text: read[text.replace(",", ".")] for text in texts}
    # float() also reads nan, 1_000 and digits of other scripts.
    if joined.encode().translate(None, _OF_NUMBERS) or holds_code(joined):
        return None
    number = float if "." in joined or "e" in joined.casefold() else int
    try:
        return dict(zip(texts, map(number, texts), strict=True))
    except ValueError:
        return None


def looks_like_table(lines: TextLines, *, commas: bool = True) -> bool:
    r"""Return whether the first lines, two or more, all have the same number of fields, and several.

    Parameters
    ----------
    lines : TextLines
        The lines.
    commas : bool
        Whether commas may separate them, which sentences have, too.

    Examples
    --------
    >>> import io
    >>> for text in ("width|kind\n3|cat\n", "Well, yes.\nNo, not now.\n"):
    ...     with TextLines(io.StringIO(text)) as lines:
    ...         print(looks_like_table(lines, commas=False))
    True
    False
    """
    delimiters = _DELIMITERS if commas else _DELIMITERS.replace(",", "")
    return any(len(each) > 1 and _is_even(each) for each in _counts_by_delimiter(lines, delimiters).values())


def _delimiter(lines: TextLines) -> str:
    """Return what separates fields: what gives each of the first lines the same number of them, and most."""
    counts = _counts_by_delimiter(lines, _DELIMITERS)
    even = [delimiter for delimiter, each in counts.items() if _is_even(each)]
    return max(even or _DELIMITERS, key=lambda delimiter: counts[delimiter][0])


def _counts_by_delimiter(lines: TextLines, delimiters: str) -> dict[str, list[int]]:
    first = [*islice(lines, _LINES_LOOKED_AT)]
    return {delimiter: _counts(first, delimiter) for delimiter in delimiters}


def _is_even(counts: list[int]) -> bool:
    """Return whether each row has the same number of fields, and several."""
    return len(set(counts)) == 1 and counts[0] > 1


def _counts(lines: list[str], delimiter: str) -> list[int]:
    """Return how many fields each row has, but of one that may go on in the next lines."""
    counts: list[int] = []
    reader = csv.reader(lines, delimiter=delimiter)
    with suppress(csv.Error):  # said once the delimiter is known
        counts.extend(len(fields) for fields in reader if fields)
    cut = len(lines) == _LINES_LOOKED_AT and "".join(lines).count('"') % 2
    return (counts[:-1] if cut else counts) or [0]


def _names(lines: TextLines, delimiter: str) -> list[str]:
    number, fields = next(_rows(lines, delimiter), (0, []))
    if not fields:
        raise DataError(f"{lines.name} is empty")
    if len(fields) > MOST_FEATURES:
        raise DataError(f"{lines.name} has {len(fields):,} columns, and {MOST_FEATURES:,} are the most")
    names = [field.strip() for field in fields]
    value = next((name for name in names if _FRACTION.fullmatch(name)), None)
    if value is not None:
        raise lines.wrong(
            number, f"holds values ({value}), not the names of columns; write a line of names above it"
        )
    return names


def _check_names(lines: TextLines, names: list[str]) -> None:
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise DataError(
            f"{lines.name}: {count:,} columns are called {name!r:.80}; give each a name of its own, in the first line"
        )


def _fill(lines: TextLines, delimiter: str, columns: list[_Fields]) -> None:
    """Hand all fields but the names to their columns, some rows at a time."""
    rows = _rows(lines, delimiter)
    next(rows)
    memory = 0
    while some := [*islice(rows, max(1, _FIELDS_AT_ONCE // len(columns)))]:
        for number, fields in some:
            if len(fields) != len(columns):
                counted = "1 field" if len(fields) == 1 else f"{len(fields):,} fields"
                if len(fields) > len(columns):
                    way = f"a field with {delimiter!r} in it stands in quotes"
                elif number == some[-1][0] and next(rows, None) is None:
                    way = "it is the last one: was the file cut short?"
                else:
                    way = "each row has a field for every name, if only an empty one"
                raise lines.wrong(number, f"has {counted}, and the line of names {len(columns):,}; {way}")
        by_column = zip(*(fields for _, fields in some), strict=True)
        memory += sum(column.add(fields) for column, fields in zip(columns, by_column, strict=True))
        if memory > MOST_MEMORY:
            raise DataError(
                f"{lines.name} would take more than {MOST_MEMORY / 2**30:g} GiB of memory; read it in parts, or make "
                "arrays of it (.npy), which may be larger than memory"
            )


def _rows(lines: TextLines, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the line that each row starts in, and its fields; empty lines are passed over."""
    number, length = 0, 0

    def counted() -> Iterator[str]:
        nonlocal length
        for line in lines:
            length += len(line)
            if length > MOST_CHARACTERS:
                raise lines.wrong(number, f"starts a row of more than {MOST_CHARACTERS:,} characters")
            yield line

    reader = csv.reader(counted(), delimiter=delimiter, strict=True)
    while True:
        number, length = reader.line_num + 1, 0
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise lines.wrong(number, f"is no row of fields: {_explained(error)}") from None
        if fields is None:
            return
        if fields:
            yield number, fields


def _explained(error: csv.Error) -> str:
    """Return what is wrong with a row and the way out."""
    said = str(error)
    if "field limit" in said:
        return f"a field has more than {csv.field_size_limit():,} characters; is a quote not closed?"
    if "new-line" in said:
        return "lines end with a carriage return alone; save the file with line feeds"
    return f"{said}; a quote inside of quotes is written twice"
