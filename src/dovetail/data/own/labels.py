"""Labels of any kind as class ids: texts, whole numbers, truth values; from lists, numpy, pandas or torch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ...errors import DataError
from ..preparation.values import spelled
from .wording import listed, readable

MOST_CLASSES = 10_000
MOST_CHARACTERS = 200
"""Of the name of a class: files of parts hold it, and tables show it."""

_MOST_NAMED = 5
_BLANK = frozenset({"nan", "na", "n/a", "#n/a", "<na>", "nat", "null", "?"})
"""Names of classes, in small letters, by which programs may have meant that there is no label."""
_WHOLE = re.compile("-?(0|[1-9][0-9]{0,17})")


class Labels(NamedTuple):
    """Class ids, the names of the classes, and what is worth a note about them."""

    ids: NDArray[np.int64]
    classes: tuple[str, ...]
    notes: tuple[str, ...] = ()


def class_labels(labels: object, classes: Sequence[str] | None = None) -> Labels:
    """Return labels as class ids.

    Classes are named by their label: a text without the white space around it, a whole number as it is written, truth
    values ``"False"`` and ``"True"``. They are in order, numbers by size, also where they are written as texts.

    Parameters
    ----------
    labels : array or sequence
        One label per sample.
    classes : sequence of str, optional
        The names of the classes in the order of their ids; by default those that occur. With whole numbers as labels
        these are the ids.

    Raises
    ------
    DataError
        For labels that are missing, or measured rather than counted.

    Examples
    --------
    >>> class_labels(["dog", "cat ", "dog"])
    Labels(ids=array([1, 0, 1]), classes=('cat', 'dog'), notes=())
    >>> class_labels(np.array([10.0, 2.0], dtype=np.float16)).classes
    ('2', '10')
    >>> class_labels([1, 0], ["no", "yes"]).classes
    ('no', 'yes')
    """
    values = label_values(labels)
    numeric = values.dtype.kind in "iufb"
    ids, names = _different(_whole(values)) if numeric else _different_texts(_texts(values))
    if classes is not None:
        known = _checked_names(classes)
        return Labels(_numbers_of(names, known)[ids], known)
    if len(names) > MOST_CLASSES:
        raise DataError(
            f"there are {len(names):,} different labels, {MOST_CLASSES:,} are the most; are they classes?"
        )
    found = tuple(str(bool(name) if values.dtype.kind == "b" else name) for name in names)
    return Labels(ids, found, () if numeric else _spellings(found) + _blanks(found))


def _different(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[Any]]:
    """Return for each label the place of what it is, and the different ones in order."""
    found, ids = np.unique(numbers, return_inverse=True)
    return ids.reshape(-1).astype(np.int64), found.tolist()


def _different_texts(texts: list[str]) -> tuple[NDArray[np.int64], list[Any]]:
    found = set(texts)
    by_size = all(map(_WHOLE.fullmatch, found))
    names = sorted(found, key=int if by_size else None)
    place = {name: number for number, name in enumerate(names)}
    return np.fromiter((place[text] for text in texts), np.int64, len(texts)), names


def _numbers_of(names: list[Any], known: tuple[str, ...]) -> NDArray[np.int64]:
    """Return the ids of labels, texts or whole numbers, in a list of classes."""
    if not names or isinstance(names[0], int):
        if names and not 0 <= names[0] <= names[-1] < len(known):
            raise DataError(
                f"labels go from {names[0]} to {names[-1]}, but there are {len(known)} names of classes"
            )
        return np.array(names, dtype=np.int64)
    place = {name: number for number, name in enumerate(known)}
    odd = [name for name in names if name not in place]
    if odd:
        raise DataError(f"labels {listed(odd)} are not among the classes {listed(known)}")
    return np.array([place[name] for name in names], dtype=np.int64)


def label_values(labels: Any) -> NDArray[Any]:
    """Return labels as a vector; missing ones are refused."""
    if isinstance(labels, Tensor):
        labels = labels.detach().cpu()
        labels = (labels.double() if labels.is_floating_point() else labels).numpy()
    elif hasattr(labels, "to_numpy"):  # pandas; its own types for missing values become plain objects
        labels = labels.to_numpy()
    elif isinstance(labels, Mapping | Set | str | bytes) or not isinstance(labels, np.ndarray | Iterable):
        raise DataError(f"labels are a list or an array, one for each sample; got {labels!r:.80}")
    elif not isinstance(labels, np.ndarray):
        labels = list(labels)
        # numpy would make texts of numbers beside texts
        texts = any(isinstance(label, str) for label in labels)
        try:
            labels = np.array(labels, dtype=object if texts else None)
        except (TypeError, ValueError):
            raise DataError("labels are one class per sample; some of these are lists of their own") from None
    values = np.asarray(labels)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        hint = "; a row of scores or a one-hot row per sample is labels.argmax(1)" if values.ndim == 2 else ""
        raise DataError(f"labels are one class per sample, not an array of shape {values.shape}{hint}")
    missing = _missing(values)
    if missing:
        raise DataError(
            f"{missing:,} of {len(values):,} labels are missing (NaN or empty); leave these samples out"
        )
    if values.dtype == object and len(values):
        if all(isinstance(value, bool | np.bool_) for value in values):
            return values.astype(bool)
        if all(isinstance(value, int | np.integer) for value in values):
            return _as_int64(values)
    return values


def _as_int64(values: NDArray[Any]) -> NDArray[np.int64]:
    try:
        return values.astype(np.int64)
    except OverflowError:
        raise DataError(f"labels up to {max(values, key=abs):.3g} are too large for classes") from None


def _missing(values: NDArray[Any]) -> int:
    if values.dtype.kind == "f":
        return int(np.isnan(values).sum())
    if values.dtype.kind in "OUS":
        return sum(_is_missing(value) for value in values.tolist())
    return 0


def _is_missing(value: Any) -> bool:
    if isinstance(value, str | bytes):
        return not value.strip()
    # NaN and pandas' NaT are not equal to themselves, pandas' NA to nothing at all.
    equal = value == value
    return value is None or not (isinstance(equal, bool | np.bool_) and equal)


def _whole(values: NDArray[Any]) -> NDArray[np.int64]:
    if values.dtype.kind == "f" and not (np.isfinite(values) & (values == np.floor(values))).all():
        odd = values[~(values == np.floor(values))][:1]
        raise DataError(
            f"labels such as {float(odd[0]) if len(odd) else 'infinity'} are measured values, not classes: Dovetail's "
            "parts are classifiers (unknown label type: continuous); cut them into ranges first"
        )
    if len(values) and (float(values.max()) > 2**62 or float(values.min()) < -(2**62)):
        raise DataError(f"labels up to {float(np.abs(values).max()):.3g} are too large for classes")
    return values.astype(np.int64)


def _texts(values: NDArray[Any]) -> list[str]:
    if values.dtype.kind not in "OUS":
        raise DataError(f"labels of type {values.dtype} are no classes; give texts or whole numbers")
    kinds = str | bytes | int | float | bool | np.number | np.bool_
    odd = next((v for v in values.tolist() if not isinstance(v, kinds)), None)
    if odd is not None:
        raise DataError(f"a label is a text or a whole number, not {type(odd).__name__}")
    texts = [spelled(v) if isinstance(v, float) else readable(v).strip() for v in values.tolist()]
    _check_one_type(values, texts)
    longest = max(texts, key=len, default="")
    if len(longest) > MOST_CHARACTERS:
        raise DataError(
            f"label {longest[:40]!r}… has {len(longest):,} characters, and {MOST_CHARACTERS} are the most; is it a "
            "class?"
        )
    return texts


def _check_one_type(values: NDArray[Any], texts: list[str]) -> None:
    """Refuse numbers beside texts that are written alike: nobody can tell whether they are one class."""
    if values.dtype != object:
        return
    kinds: dict[str, Any] = {}
    for value, text in zip(values.tolist(), texts, strict=True):
        other = kinds.setdefault(text, value)
        if isinstance(value, str | bytes) != isinstance(other, str | bytes):
            number, as_text = (other, value) if isinstance(value, str | bytes) else (value, other)
            raise DataError(
                f"labels {number!r:.40} (a number) and {as_text!r:.40} (a text) are written alike, and may be one "
                "class or two; give all labels in one type, as texts: [str(label) for label in y]"
            )


def _checked_names(classes: Sequence[str]) -> tuple[str, ...]:
    known = tuple(str(name) for name in classes)
    if not known or len(set(known)) < len(known):
        raise DataError(f"classes are names, each once; got {list(known)!r:.80}")
    return known


def _spellings(classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return a note for classes that differ only in how they are written."""
    alike: dict[str, list[str]] = {}
    for name in classes:
        alike.setdefault("".join(name.casefold().replace("_", " ").replace("-", " ").split()), []).append(
            name
        )
    twice = [names for names in alike.values() if len(names) > 1]
    if not twice:
        return ()
    shown = "; ".join(" and ".join(repr(name) for name in names) for names in twice[:_MOST_NAMED])
    return (f"classes that differ only in spelling are taken for different ones: {shown}",)


def _blanks(classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return a note for classes that are called as missing values are."""
    blanks = [name for name in classes if name.casefold() in _BLANK]
    if not blanks:
        return ()
    return (
        f"taken for names of classes: {listed(blanks)}; where that means that there is no label, leave it empty",
    )
