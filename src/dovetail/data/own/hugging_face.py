"""Data sets of Hugging Face: columns with features, in one data set or one for each split.

They are known by what they have, so the package ``datasets`` need not be there.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...errors import DataError, unknown_name
from ..content import Content
from ..preparation.column import is_prose
from .array_files import role_of
from .arrays import arrays_content
from .official import split_number
from .pictures import Size, pictures_content
from .splitting import USUAL
from .tables import frame_content
from .texts import texts_content
from .wording import listed

_SPLITS = ("train", "val", "test")
_ARRAYS = ("Array2D", "Array3D", "Array4D", "LargeList", "List", "Sequence")
_LOOKED_AT = 1000
"""Texts that are looked at to tell sentences from words."""


def hugging_face_content(
    data: Any,
    target: str | None = None,
    *,
    inputs: str | None = None,
    split: tuple[float, float, float] | None = None,
    size: Size | None = None,
    seed: int = 0,
    name: str = "huggingface",
) -> Content:
    """Return what `Dataset.from_huggingface` holds."""
    parts, notes = _parts(data)
    columns = _columns(parts[0], target, inputs)
    if set(parts) == {0}:
        numbers = None
    else:
        parts, more = _labelled(parts, columns.target)
        notes += more
        numbers = np.repeat(list(parts), [len(part) for part in parts.values()]) if len(parts) > 1 else None
    labels = [label for part in parts.values() for label in _labels(part, columns.target)]
    if columns.left_out:
        notes += (f"columns that are not used: {listed(columns.left_out)}",)
    if columns.kind == "pictures":
        return pictures_content(
            _Pictures(list(parts.values()), columns.inputs[0]),
            labels,
            official=numbers,
            classes=_names(parts[0], columns.target),
            split=split,
            size=size,
            seed=seed,
            name=name,
            notes=notes,
        )
    if columns.kind == "texts":
        return texts_content(
            [text for part in parts.values() for text in list(part[columns.inputs[0]])],
            labels,
            split=split,
            splits=None if numbers is None else [_SPLITS[number] for number in numbers],
            seed=seed,
            name=name,
            notes=notes,
        )
    if columns.kind == "arrays":
        x = {number: _array(part, columns.inputs[0]) for number, part in parts.items()}
        pairs = {number: (x[number], _labels(part, columns.target)) for number, part in parts.items()}
        content = arrays_content(
            *pairs[0],
            val=pairs.get(1),
            test=pairs.get(2),
            classes=_names(parts[0], columns.target),
            split=USUAL if split is None else split,
            seed=seed,
            name=name,
        )
        return content._replace(notes=(*notes, *content.notes))
    frame = pd.concat(
        [_chosen(part, list(columns.inputs)).to_pandas() for part in parts.values()], ignore_index=True
    )
    frame[columns.target] = labels
    official = None
    if numbers is not None:
        official = "split" if "split" not in frame else "its split"
        frame[official] = [_SPLITS[number] for number in numbers]
    content = frame_content(frame, columns.target, split=official or split, seed=seed, name=name)
    return content._replace(notes=(*notes, *content.notes))


class _Columns(NamedTuple):
    """Which columns are what."""

    kind: str
    inputs: tuple[str, ...]
    target: str
    left_out: tuple[str, ...] = ()


def _parts(data: Any) -> tuple[dict[int, Any], tuple[str, ...]]:
    """Return the data sets of train, val and test by number; one alone is number 0."""
    if not isinstance(data, Mapping):
        _check(data)
        return {0: data}, ()
    parts: dict[int, Any] = {}
    other = []
    for name, one in data.items():
        number = split_number(name)
        if number is None or number in parts:
            other.append(name)
        else:
            _check(one)
            parts[number] = one
    if len(data) == 1:
        one = next(iter(data.values()))
        _check(one)
        return {0: one}, ()
    if 0 not in parts:
        raise DataError(
            f"there is no split to train on among {listed(data)}; hand over one of them by itself"
        )
    return dict(sorted(parts.items())), (
        (f"splits that are neither train, val nor test are left out: {listed(other)}",) if other else ()
    )


def _check(data: Any) -> None:
    if not hasattr(data, "features") or not hasattr(data, "column_names"):
        raise DataError(
            f"this is a {type(data).__name__}, not a data set of Hugging Face; torch's are for from_torch"
        )
    if not hasattr(data, "__len__"):
        raise DataError(
            "this data set is streamed, so nobody knows how much there is; load it without streaming=True"
        )
    if not len(data):
        raise DataError("this data set is empty")


def _columns(data: Any, target: str | None, inputs: str | None) -> _Columns:
    """Return which column holds the classes, and which what is to be told apart by."""
    names = [str(name) for name in data.column_names]
    for wanted in (target, inputs):
        if wanted is not None and wanted not in names:
            raise unknown_name("column", wanted, names)
    kinds = {name: type((data.features or {}).get(name)).__name__ for name in names}
    if target is None:
        target = _target(names, kinds)
    others = [name for name in names if name != target]
    pictures = [name for name in others if kinds[name] == "Image"]
    texts = [name for name in others if _is_text(data, name)]
    sentences = [name for name in texts if is_prose(*_sample(data, name))]
    arrays = [name for name in others if kinds[name] in _ARRAYS]
    for kind, found in (("pictures", pictures), ("texts", sentences), ("arrays", arrays)):
        chosen = [inputs] if inputs in found or (kind == "texts" and inputs in texts) else found
        if inputs is not None and chosen != [inputs]:
            continue
        if len(chosen) > 1:
            raise DataError(
                f"there are several columns of {kind} ({listed(chosen)}); choose one with inputs="
            )
        if chosen:
            only = chosen[0]
            return _Columns(kind, (only,), target, tuple(name for name in others if name != only))
    if inputs is not None:
        return _Columns("table", (inputs,), target, tuple(name for name in others if name != inputs))
    if not others:
        raise DataError(f"there is no column but {target!r}")
    return _Columns("table", tuple(others), target)


def _target(names: Sequence[str], kinds: Mapping[str, str]) -> str:
    labels = [name for name in names if kinds[name] == "ClassLabel"]
    if not labels:
        labels = [name for name in names if (role := role_of(name)) and not role.is_x and not role.rest]
    if len(labels) != 1:
        what = f"several could ({listed(labels)})" if labels else f"it has {listed(names)}"
        raise DataError(f"which column holds the classes? {what[0].upper()}{what[1:]}; name it with target=")
    return labels[0]


def _is_text(data: Any, name: str) -> bool:
    return str(getattr((data.features or {}).get(name), "dtype", "")) in ("string", "large_string")


def _sample(data: Any, name: str) -> tuple[set[str], int]:
    """Return some different texts of a column, and of how many rows they are."""
    texts = [str(text) for text in data[: min(_LOOKED_AT, len(data))][name]]
    return set(texts), len(texts)


def _names(data: Any, target: str) -> list[str] | None:
    """Return the names of the classes where the column knows them."""
    names = getattr((data.features or {}).get(target), "names", None)
    return None if names is None else [str(name) for name in names]


def _labels(data: Any, target: str) -> list[Any]:
    """Return the class of each row by name; None where there is none, which is written -1."""
    names = _names(data, target)
    labels = list(data[target])
    if names is None:
        return labels
    return [None if label is None or label < 0 else names[label] for label in labels]


def _labelled(parts: dict[int, Any], target: str) -> tuple[dict[int, Any], tuple[str, ...]]:
    """Return the splits that have labels: those of competitions keep them to themselves."""
    without = [
        number
        for number, part in parts.items()
        if target not in part.column_names or all(label is None for label in _labels(part, target))
    ]
    if 0 in without:
        raise DataError(f"the training split has no labels in column {target!r}")
    notes = tuple(f"the {_SPLITS[number]} split has no labels and is left out" for number in without)
    return {number: part for number, part in parts.items() if number not in without}, notes


def _chosen(data: Any, names: list[str]) -> Any:
    """Return a data set of some columns, so that no others are decoded."""
    return data.select_columns(names) if hasattr(data, "select_columns") else data


def _array(data: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(list(data[name]))
    except ValueError:
        raise DataError(
            f"the rows of column {name!r} are of different lengths, so they make no array"
        ) from None


class _Pictures(Sequence[Any]):
    """The pictures of several data sets one after the other, each decoded when it is needed."""

    def __init__(self, parts: Sequence[Any], column: str) -> None:
        self._parts = [_chosen(part, [column]) for part in parts]
        self._column = column

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __getitem__(self, row: Any) -> Any:
        for part in self._parts:
            if row < len(part):
                return _opened(part[int(row)][self._column])
            row -= len(part)
        raise IndexError(row)


def _opened(picture: Any) -> Any:
    """Return a picture that is not decoded, a dict of bytes and path, as something that can be read."""
    if isinstance(picture, Mapping):
        content = picture.get("bytes")
        return picture.get("path") if content is None else io.BytesIO(content)
    return picture
