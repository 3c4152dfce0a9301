"""Tables: rows with named columns, from a DataFrame or a file, with one column that says the class."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from ...errors import DataError, SpecError, unknown_name
from ..content import Content
from ..preparation import Numbers, Preparation, Table, Texts, Words
from ..preparation.column import PROSE, Column, Unused, is_prose
from ..preparation.table import as_frame, decided_columns
from ..preparation.values import distinct, numbers, row_name
from ..split import Split
from .column_facts import column_facts
from .csv_file import looks_like_table, read_csv
from .json_rows import read_json_rows
from .labels import MOST_CLASSES, Labels, class_labels
from .like import Like, ids_like, preparation_of
from .missing import labelled
from .official import SPLIT_NAMES, split_number, three_rows
from .parquet_file import read_parquet
from .rows import prepared_rows
from .text_lines import TextLines
from .texts import texts_content
from .wording import listed

_TARGETS = (
    *("target", "targets", "class", "classes", "label", "labels", "species", "category", "intent"),
    *("outcome", "diagnosis", "y"),
)
"""What columns of classes are called, in small letters; the first that is there counts."""

_SPLITS = ("split", "subset", "partition")
"""What columns are called that say train, val or test."""

_MOST_WHOLE_CLASSES = 20
"""Different whole numbers in a last column that is taken for classes though it is not called so."""


def read_table(
    source: str | Path | IO[Any], *, tabs: bool = False, texts: Collection[str] = ()
) -> pd.DataFrame:
    r"""Return the table in a file: ``.csv``, ``.tsv``, ``.txt`` (any separator), ``.parquet``, ``.jsonl`` or ``.json``.

    Nothing is guessed that would lose what is written. Columns of numbers hold numbers, every other one holds texts: of
    "007" the zeros stay, "NA" and "true" stay texts. Only among numbers do "NA", "?" and their like stand for missing
    ones. See `csv_file.read_csv` for all rules. JSON has an object for each row, ``{"width": 3, "kind": "cat"}``.

    Parameters
    ----------
    source : path or open file
        A file, or a stream of text or bytes, which is read as csv.
    tabs : bool
        Whether a stream has tabs between its fields.
    texts : collection of str
        Names of columns that hold texts even if all fields of this csv are numbers: `Table.level_names` of a part that
        the rows are for, to which "1.50" may be another level than 1.5.

    Raises
    ------
    DataError
        For a file that is no table, or larger than a table may be, naming the file and the line.

    Examples
    --------
    >>> import io
    >>> read_table(io.StringIO("code,width\n007,2.5\n010,?\n")).to_dict("list")
    {'code': ['007', '010'], 'width': [2.5, nan]}
    """
    ending = Path(source).suffix.lower() if isinstance(source, str | Path) else ""
    if ending == ".parquet":
        return read_parquet(Path(str(source)))
    with TextLines(source) as lines:
        if ending in (".json", ".jsonl"):
            rows = read_json_rows(lines, None)
            if not isinstance(rows, pd.DataFrame):
                raise DataError(f'{lines.name} holds lists; write objects, {{"width": 3, "kind": "cat"}}')
            return rows
        return read_csv(lines, "\t" if tabs or ending == ".tsv" else None, texts=texts)


def is_table_text(path: Path, *, commas: bool = False) -> bool:
    """Return whether a ``.txt`` file looks like a table: with tabs, semicolons or bars, if asked with commas too.

    Sentences have commas, so a file of them could pass for a table.
    """
    if path.suffix.lower() != ".txt":
        return False
    with TextLines(path) as lines:
        return looks_like_table(lines, commas=commas)


def frame_content(
    frame: pd.DataFrame,
    target: str | None = None,
    *,
    split: Sequence[float] | str | None = None,
    like: Like | None = None,
    raw_texts: bool = False,
    seed: int = 0,
    name: str = "table",
) -> Content:
    """Return what `Dataset.from_frame` holds; with ``raw_texts``, a table of texts as they are.

    Rows without a class are left out and counted. Splits are those that a column says: the one that ``split`` names, or
    one called "split" that holds nothing but names of splits. A table whose only input column is of texts gives what
    `texts_content` gives of it.
    """
    frame = as_frame(frame)
    if not len(frame):
        raise DataError(f"{name}: the table has no rows")
    if isinstance(target, pd.Series | np.ndarray | torch.Tensor | list):
        raise SpecError(
            f"target is the name of a column, not the classes themselves (a {type(target).__name__}); put them into "
            "the table: Dataset.from_frame(frame.assign(label=classes), 'label')"
        )
    rows = _labelled_rows(frame, target, split, like, name)
    found = _labels(rows, like)
    given = None if isinstance(split, str) else split
    places, notes = three_rows(found.ids, rows.official, shares=given, seed=seed, name=name)
    preparation: Preparation
    if like is None:
        columns = decided_columns(rows.inputs, places[0])
        text = _only_text(columns)
        if text is not None:
            return _of_texts(rows, text, given, like, raw_texts, seed, name)
        preparation = table = Table.of(columns)
        notes += table.notes
    else:
        preparation = preparation_of(like)
        if isinstance(preparation, Words | Texts):
            return _of_texts(rows, _texts_among(rows.inputs), given, like, raw_texts, seed, name)
    raw = rows.inputs if isinstance(preparation, Table) else _numbers(rows.inputs, preparation, name)
    made: dict[int, Split] = {}
    for some in places:
        if id(some) not in made:  # a split may stand in for another
            chosen = raw.iloc[some] if isinstance(raw, pd.DataFrame) else raw[some]
            made[id(some)] = Split(prepared_rows(preparation, chosen), torch.from_numpy(found.ids[some]))
    return Content(
        [made[id(some)] for some in places],
        found.classes,
        "classes",
        preparation,
        (*rows.notes, *found.notes, *notes),
        column_facts(rows.inputs, preparation),
    )


def target_column(frame: pd.DataFrame, target: str | None = None) -> str:
    """Return the name of the column that holds the classes.

    By default it is one that is called so ("target", "class", "label", "species", "y", …) and does not hold measured
    numbers; else the last one, if it looks like classes: texts, truth values or up to 20 different whole numbers, each
    of them in two rows or more on average.

    Raises
    ------
    DataError
        When there is no such column, with the names of those there are.
    SpecError
        When the one that was asked for is not there.

    Examples
    --------
    >>> target_column(pd.DataFrame({"Species": ["cat", "dog"], "weight": [4.1, 20.5]}))
    'Species'
    >>> target_column(pd.DataFrame({"width": [1.5, 2.5, 1.0, 2.0], "colour": ["red", "blue", "red", "red"]}))
    'colour'
    """
    names = [str(name) for name in as_frame(frame).columns]
    if target is not None:
        if str(target).strip() not in names:
            raise unknown_name("column", target, names)
        return str(target).strip()
    in_small_letters = {name.casefold(): name for name in reversed(names)}
    for usual in _TARGETS:
        named = in_small_letters.get(usual)
        if named is not None and not _is_measured(frame.iloc[:, names.index(named)]):
            return named
    if names and _looks_like_classes(frame.iloc[:, -1]):
        return names[-1]
    raise DataError(
        f"which column holds the classes? None is called so, and the last one does not look like it; name it with "
        f"target=. There are {listed(names, most=20)}"
    )


class _Rows(NamedTuple):
    """The rows that have a class: their inputs, labels and official splits."""

    inputs: pd.DataFrame
    labels: pd.Series[Any]
    official: NDArray[np.int64] | None
    notes: tuple[str, ...]


def _labelled_rows(
    frame: pd.DataFrame, target: str | None, split: Sequence[float] | str | None, like: Like | None, name: str
) -> _Rows:
    by_name = [str(name) for name in frame.columns if isinstance(split, str) and name == split.strip()]
    rest = frame.drop(columns=by_name)
    column = target_column(rest, target) if target or like is None else _target_like(rest, like)
    notes: tuple[str, ...] = ()
    if target is None:
        notes = (f"the classes are those in column {column!r:.80}; target= names another",)
    by_split = _split_column(frame, column, split)
    if by_split is not None and split is None:
        notes += (f"the splits are those in column {by_split!r:.80}; split= takes shares instead",)
    there, missing = labelled(frame[column], f"{name}, column {column!r:.80}", "rows")
    frame = frame if len(there) == len(frame) else frame.iloc[there]
    official = None if by_split is None else _official(frame[by_split])
    inputs = frame.drop(columns=[column, *([] if by_split is None else [by_split])])
    if not inputs.shape[1]:
        raise DataError(f"{name}: there is no column beside {column!r:.80}, which holds the classes")
    return _Rows(inputs, frame[column], official, notes + missing)


def _target_like(frame: pd.DataFrame, like: Like) -> str:
    """Return the column of classes of rows like others: none of those that were columns of samples."""
    preparation = preparation_of(like)
    known: set[str] = set()
    if isinstance(preparation, Table):
        known = {column.name for column in preparation.columns}
    elif isinstance(preparation, Numbers):
        known = set(preparation.names)
    new = [str(name) for name in frame.columns if name not in known]
    return new[0] if len(new) == 1 else target_column(frame[new] if new else frame)


def _labels(rows: _Rows, like: Like | None) -> Labels:
    try:
        if like is None:
            return class_labels(rows.labels)
        return Labels(ids_like(rows.labels, like), like.classes)
    except DataError as error:
        raise DataError(f"column {str(rows.labels.name)!r:.80}: {error}") from None


def _split_column(frame: pd.DataFrame, target: str, split: Sequence[float] | str | None) -> str | None:
    """Return the column that says train, val or test, if one was named or there is one."""
    others = [str(name) for name in frame.columns if name != target]
    if isinstance(split, str):
        if split.strip() not in others:
            raise unknown_name("column", split, others)
        return split.strip()
    if split is not None:
        return None
    for name in others:
        if name.casefold() in _SPLITS:
            codes, values = distinct(frame[name])
            found = {split_number(value) for value in values}
            if (codes >= 0).all() and 0 in found and None not in found and len(found) > 1:
                return name
    return None


def _official(column: pd.Series[Any]) -> NDArray[np.int64]:
    """Return 0, 1 or 2 for each row of train, val and test."""
    codes, values = distinct(column)
    split_numbers = [split_number(value) for value in values]
    odd = [place for place, number in enumerate(split_numbers) if number is None]
    if odd or (codes < 0).any():
        place = int(np.flatnonzero(codes == (odd[0] if odd else -1))[0])
        raise DataError(
            f"{row_name(column, place)}: column {str(column.name)!r:.80} holds {column.iloc[place]!r:.40}, which is "
            f"no split; splits are {listed(SPLIT_NAMES, most=10)}"
        )
    return np.array(split_numbers, dtype=np.int64)[codes]


def _split_name(number: int) -> str:
    return next(name for name, place in SPLIT_NAMES.items() if place == number)


def _of_texts(
    rows: _Rows,
    column: str,
    split: Sequence[float] | None,
    like: Like | None,
    raw: bool,
    seed: int,
    name: str,
) -> Content:
    """Return what a table holds of which one column is texts."""
    official = rows.official
    content = texts_content(
        rows.inputs[column].tolist(),
        rows.labels,
        split=split,
        splits=None if official is None else [_split_name(number) for number in official.tolist()],
        like=like,
        raw=raw,
        seed=seed,
        name=name,
    )
    others = [other for other in rows.inputs if other != column]
    unused = (f"columns beside the texts that are not used: {listed(others)}",) if others else ()
    return content._replace(notes=(*rows.notes, *unused, *content.notes))


def _only_text(columns: Sequence[Column]) -> str | None:
    """Return the column of sentences, if it is the only one that could be used for anything."""
    prose = [column.name for column in columns if isinstance(column, Unused) and column.why == PROSE]
    return prose[0] if len(prose) == 1 and all(isinstance(column, Unused) for column in columns) else None


def _texts_among(inputs: pd.DataFrame) -> str:
    """Return the column of texts that a part of texts is to take."""
    texts = [str(name) for name in inputs if not _is_number(inputs[name])]
    if len(texts) != 1:
        raise DataError(f"texts are wanted, and columns of texts are {listed(texts)}; leave out all but one")
    return texts[0]


def _numbers(inputs: pd.DataFrame, preparation: Preparation, name: str) -> NDArray[np.float64]:
    """Return the columns of a table as the array that a part was trained on, by the names of its features."""
    if not isinstance(preparation, Numbers) or not preparation.names:
        raise DataError(
            f"{name}: this is a table, and it takes something else: {preparation.describe()}, without names of columns"
        )
    missing = [feature for feature in preparation.names if feature not in inputs]
    if missing:
        raise DataError(f"{name}: there are no columns {listed(missing)}; there are {listed(inputs.columns)}")
    return np.stack([numbers(inputs[feature]) for feature in preparation.names], axis=1)


def _is_number(column: pd.Series[Any]) -> bool:
    return pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)


def _is_measured(column: pd.Series[Any]) -> bool:
    """Return whether a column holds numbers of which some are not whole."""
    if column.dtype.kind in "mMc":
        return True
    return _is_number(column) and bool((numbers(column) % 1 > 0).any())


def _looks_like_classes(column: pd.Series[Any]) -> bool:
    if _is_measured(column):
        return False
    codes, values = distinct(column)
    most = min(_MOST_WHOLE_CLASSES if _is_number(column) else MOST_CLASSES, (codes >= 0).sum() // 2)
    texts = [value for value in values if isinstance(value, str)]
    return 2 <= len(values) <= most and not (texts and is_prose(texts, len(column)))
