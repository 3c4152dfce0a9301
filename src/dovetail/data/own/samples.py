"""Samples to answer for: raw ones from a file, a folder or a stream, with or without labels."""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...errors import DataError
from ..preparation import Numbers, Pictures, Preparation, Table, Texts, Words
from ..preparation.table import as_frame
from ..preparation.values import numbers, spelled
from ..sources import expand_user
from .archive import unpacked
from .array_files import read_arrays
from .csv_file import read_csv
from .json_rows import holds_json, read_json_rows
from .kinds import Kind, kind_of
from .labels import class_labels
from .picture_folder import list_pictures
from .pictures import each_picture
from .rows import empty_rows
from .tables import is_table_text, read_table, target_column
from .text_lines import TextLines
from .texts import read_texts
from .wording import listed, readable

_JSON = (".json", ".jsonl")
_MOST_IN_STREAM = 2**28
"""Bytes of a picture that comes from a stream."""


class Samples(NamedTuple):
    """Raw samples as a part's ``predict`` takes them.

    Attributes
    ----------
    raw : object
        What to hand to ``predict``: a table, an array (also of pictures), a list of texts or of one picture.
    names : tuple of str
        What to call each in a list of answers: its file, or the number of its row, from 1.
    labels : tuple of str or None
        The class of each, where the source says so.
    unread : dict of str to str
        Pictures of a folder that cannot be read, and why; they are none of the samples.
    """

    raw: Any
    names: tuple[str, ...]
    labels: tuple[str, ...] | None = None
    unread: Mapping[str, str] = MappingProxyType({})


def read_samples(
    source: str | Path | IO[Any], preparation: Preparation | None, *, target: str | None = None
) -> Samples:
    r"""Read raw samples for a part that was trained on samples of the same kind.

    Parameters
    ----------
    source : path or stream
        The kinds of files that `read` takes, with labels or without; a text file with one text per line; rows as JSON
        (see `read_json_rows`); one picture, or a folder of them. A stream (such as ``sys.stdin.buffer``) holds rows as
        csv or JSON, texts as lines or JSON lines, or one picture, by what the part was trained on.
    preparation : Preparation or None
        The ``preparation`` of the part. Without one, samples are rows of numbers as the network takes them.
    target : str, optional
        The column of a table that holds the classes; by default one that looks like it, if there is one.

    Raises
    ------
    DataError
        For what is not there, cannot be read, or holds no samples.

    Examples
    --------
    >>> from dovetail.data.preparation import Numbers
    >>> stream = io.BytesIO(b"width,height\n3,4\n5,6\n")
    >>> read_samples(stream, Numbers(raw_shape=(2,))).raw.tolist()
    [[3.0, 4.0], [5.0, 6.0]]
    """
    if preparation is not None:
        preparation = preparation.reads
    if not isinstance(source, str | Path):
        samples = _of_stream(source, preparation, target)
    else:
        path = expand_user(source)
        kind = kind_of(path)
        if kind == "archive":
            with unpacked(path) as inside:
                try:
                    samples = _of_file(inside.place, kind_of(inside.place), preparation, target)
                except DataError as error:
                    raise DataError(inside.named(str(error))) from error
                unread = {name: inside.named(why) for name, why in samples.unread.items()}
                samples = samples._replace(unread=MappingProxyType(unread))
        else:
            samples = _of_file(path, kind, preparation, target)
    if not samples.names:
        raise DataError(f"{'the input' if not isinstance(source, str | Path) else source} holds no samples")
    return samples


def _of_file(path: Path, kind: Kind, preparation: Preparation | None, target: str | None) -> Samples:
    if kind == "arrays" and not isinstance(preparation, Table | Words | Texts):
        return _arrays(path)
    if isinstance(preparation, Pictures) and kind in ("picture", "folder"):
        return _pictures(path, kind, preparation)
    if isinstance(preparation, Words | Texts) and kind == "texts":
        return _texts(path)
    takes_rows = not isinstance(preparation, Pictures | Words | Texts)
    is_rows = takes_rows and (path.suffix.lower() in _JSON or is_table_text(path, commas=True))
    if is_rows or (kind == "table" and not isinstance(preparation, Pictures)):
        return _table(path, preparation, target)
    wanted = "rows of numbers" if preparation is None else preparation.describe()
    holds = {
        "texts": "texts",
        "arrays": "arrays",
        "picture": "a picture",
        "folder": "a folder",
        "table": "a table",
    }[kind]
    raise DataError(f"{path} is {holds}, and this part takes samples of another kind: {wanted}")


def _texts_of(preparation: Preparation | None) -> Collection[str]:
    """Return the columns whose values are texts even where a file has only numbers in them: "1.50" is not 1.5."""
    return preparation.level_names if isinstance(preparation, Table) else ()


def _of_stream(stream: IO[Any], preparation: Preparation | None, target: str | None) -> Samples:
    if isinstance(preparation, Words | Texts):
        return _texts(stream)
    if not isinstance(preparation, Pictures):
        return _table(stream, preparation, target)
    content = stream.read(_MOST_IN_STREAM + 1)
    if len(content) > _MOST_IN_STREAM:
        raise DataError(f"the input has more than {_MOST_IN_STREAM:,} bytes, more than a picture has")
    if not content:
        raise DataError("nothing came from the input; a picture was expected")
    return Samples([io.BytesIO(content)], ("1",))


def _table(source: Path | IO[Any], preparation: Preparation | None, target: str | None) -> Samples:
    """Return the rows of a file, or of a stream: JSON if it begins so, else csv."""
    ending = source.suffix.lower() if isinstance(source, Path) else ""
    if ending == ".parquet":
        return _rows(as_frame(read_table(source)), preparation, str(source), target)
    with TextLines(source) as lines:
        if ending in _JSON or (not ending and holds_json(lines)):
            rows = read_json_rows(lines, preparation)
            if isinstance(rows, np.ndarray):
                return Samples(_shaped(rows, preparation), _numbered(len(rows)))
        else:
            rows = read_csv(lines, "\t" if ending == ".tsv" else None, texts=_texts_of(preparation))
        return _rows(as_frame(rows), preparation, lines.name, target)


def _rows(frame: pd.DataFrame, preparation: Preparation | None, name: str, target: str | None) -> Samples:
    """Return the rows of a table, and the class of each if one of the columns is none of the samples."""
    if isinstance(preparation, Words | Texts):
        labels = _column_of_labels(frame, target) if frame.shape[1] > 1 else None
        others = frame.columns.drop(labels or [])
        if len(others) != 1:
            raise DataError(
                f"{name} has the columns {listed(others)}; which holds the texts? Leave out the others"
            )
        texts = ["" if pd.isna(text) else spelled(text) for text in frame[others[0]]]
        return Samples(texts, _numbered(len(frame)), _labels(frame, labels))
    if isinstance(preparation, Table):
        known = {column.name for column in preparation.columns}
        labels = _column_of_labels(frame[[column for column in frame if column not in known]], target)
        return Samples(frame, _numbered(len(frame)), _labels(frame, labels))
    columns, labels = _columns_of_numbers(frame, preparation, name, target)
    raw = (
        np.stack([numbers(frame[column]) for column in columns], axis=1)
        if columns
        else np.zeros((len(frame), 0))
    )
    return Samples(_shaped(raw, preparation), _numbered(len(frame)), _labels(frame, labels))


def _shaped(rows: NDArray[np.float64], preparation: Preparation | None) -> NDArray[np.float64]:
    """Return rows of numbers as samples of the shape that a part takes."""
    return rows.reshape(len(rows), *preparation.raw_shape) if isinstance(preparation, Numbers) else rows


def _columns_of_numbers(
    frame: pd.DataFrame, preparation: Preparation | None, name: str, target: str | None
) -> tuple[list[str], str | None]:
    """Return the columns of a table that are the features of an array, in their order, and that with labels."""
    columns = [str(column) for column in frame.columns]
    if _are_values(columns):
        raise DataError(
            f"the first line of {name} holds values ({listed(columns)}), not the names of columns; write a line of "
            "names above it, of whatever kind"
        )
    if not isinstance(preparation, Numbers):
        return columns, None
    if preparation.names and set(preparation.names) <= set(columns):
        return list(preparation.names), _column_of_labels(frame.drop(columns=list(preparation.names)), target)
    count = math.prod(preparation.raw_shape)
    labels = _column_of_labels(frame, target) if len(columns) == count + 1 else None
    columns = [column for column in columns if column != labels]
    if len(columns) != count:
        raise DataError(
            f"{name} has {len(columns):,} columns ({listed(columns)}), and samples have {count:,} numbers"
        )
    return columns, labels


def _are_values(columns: Sequence[str]) -> bool:
    """Return whether what should be names are numbers, and do not just count the columns as pandas' names do."""
    try:
        for column in columns:
            float(column)
    except ValueError:
        return False
    return bool(columns) and list(columns) != [str(place) for place in range(len(columns))]


def _column_of_labels(frame: pd.DataFrame, target: str | None) -> str | None:
    """Return the column that was named, or that looks as if it held the classes, if there is one."""
    if target is not None:
        return target_column(frame, target)
    try:
        return target_column(frame) if frame.shape[1] else None
    except DataError:
        return None


def _labels(frame: pd.DataFrame, column: str | None) -> tuple[str, ...] | None:
    if column is None:
        return None
    return tuple("" if pd.isna(label) else spelled(label) for label in frame[column])


def _texts(source: Path | IO[Any]) -> Samples:
    found = read_texts(source)
    labels = (
        None
        if found.labels is None
        else tuple("" if label is None else spelled(label) for label in found.labels)
    )
    return Samples(found.texts, _numbered(len(found.texts)), labels)


def _arrays(path: Path) -> Samples:
    arrays = read_arrays(path)
    x, y = arrays.x[arrays.asked], arrays.y[arrays.asked]
    assert x is not None
    labels = None
    if y is not None:
        ids, classes, _ = class_labels(y, arrays.classes)
        if len(ids) != len(x):
            raise DataError(f"{path}: {len(x):,} samples and {len(ids):,} labels; each needs one")
        labels = tuple(classes[number] for number in ids.tolist())
    return Samples(x, _numbered(len(x)), labels)


def _pictures(path: Path, kind: Kind, preparation: Pictures) -> Samples:
    """Return one picture, or those of a folder that can be read."""
    if kind == "picture":
        return Samples(np.moveaxis(preparation.resized(path), 0, 2)[None], (readable(path.name),))
    found = list_pictures(path)
    count = len(found.paths)
    pixels = empty_rows((count, *preparation.size, preparation.channels), np.uint8)
    kept: list[int] = []
    unread: dict[str, str] = {}
    names = [readable(file.relative_to(path)) for file in found.paths]
    for row, picture in enumerate(each_picture(found.paths, np.arange(count), preparation, path.name)):
        if isinstance(picture, DataError):
            unread[names[row]] = readable(picture)
        else:
            pixels[len(kept)] = np.moveaxis(picture, 0, 2)
            kept.append(row)
    if not kept:
        raise DataError(
            f"none of {count:,} pictures in {path} can be read; the first one: {unread[names[0]]}"
        )
    labels = None if found.labels is None else tuple(found.labels[row] for row in kept)
    return Samples(pixels[: len(kept)], tuple(names[row] for row in kept), labels, MappingProxyType(unread))


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(1, count + 1)))
