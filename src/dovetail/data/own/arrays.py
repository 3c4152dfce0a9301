"""Arrays: samples and labels that are in memory already."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ...errors import DataError, DovetailWarning, SpecError, unknown_name
from ..content import Content
from ..preparation import Numbers, Preparation, Scale
from ..preparation.numbers import as_array, check_finite
from ..split import Split
from .labels import Labels, class_labels, label_values
from .like import Like, ids_like, preparation_of
from .rows import prepared_rows, take_rows
from .splitting import USUAL, check_shares, fill_empty, split_by_class

Pair = tuple[object, object]
"""Samples and their labels."""


def arrays_content(
    x: object,
    y: object,
    *,
    val: Pair | None = None,
    test: Pair | None = None,
    classes: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    split: tuple[float, float, float] = USUAL,
    scale: Scale = "auto",
    seed: int = 0,
    name: str = "arrays",
    like: Like | None = None,
) -> Content:
    """Return what `Dataset.from_arrays` holds, or with ``like``, samples prepared as those of something else."""
    if scale not in ("auto", "standard", "unit", "none"):
        raise unknown_name("scale", scale, ["auto", "standard", "unit", "none"])
    given = [(x, y), *[pair for pair in (val, test) if pair is not None]]
    arrays = [as_array(samples) for samples, _ in given]
    joined = _joined([pair[1] for pair in given])
    labels = (
        class_labels(joined, classes)
        if like is None
        else Labels(ids_like(joined, like, classes), like.classes)
    )
    starts = np.cumsum([0, *map(len, arrays)])
    if starts[-1] != len(labels.ids):
        raise DataError(f"{name}: {starts[-1]:,} samples and {len(labels.ids):,} labels; each needs one")
    for array in arrays[1:]:
        if array.shape[1:] != arrays[0].shape[1:]:
            raise DataError(
                f"{name}: samples of shapes {arrays[0].shape[1:]} and {array.shape[1:]} side by side"
            )
    names = _feature_names(x, arrays[0].shape[1:], features)
    check_finite(arrays, names)
    ids = [labels.ids[start:end] for start, end in pairwise(starts)]
    pieces, notes = _in_three(arrays, ids, val is not None, test is not None, split, seed, name)
    preparation = Numbers.fitted(pieces[0][0], scale, names=names) if like is None else preparation_of(like)
    return Content(
        prepared_splits(pieces, preparation), labels.classes, "classes", preparation, labels.notes + notes
    )


def prepared_splits(pieces: Sequence[tuple[Any, NDArray[np.int64]]], preparation: Preparation) -> list[Split]:
    """Return splits of raw samples with their class ids; pieces that are the same become one split."""
    done: dict[int, Split] = {}
    for raw, ids in pieces:
        if id(raw) not in done:
            done[id(raw)] = Split(prepared_rows(preparation, raw), torch.from_numpy(ids.copy()))
    return [done[id(raw)] for raw, _ in pieces]


def _in_three(
    arrays: list[NDArray[Any]],
    ids: list[NDArray[np.int64]],
    has_val: bool,
    has_test: bool,
    split: tuple[float, float, float],
    seed: int,
    name: str,
) -> tuple[list[tuple[NDArray[Any], NDArray[np.int64]]], tuple[str, ...]]:
    """Return samples and ids of train, val and test: as given, the others taken out of what is there to train on."""
    train_share, val_share, test_share = check_shares(split)
    shares = check_shares((train_share, 0.0 if has_val else val_share, 0.0 if has_test else test_share))
    if not len(arrays[0]):
        raise DataError(f"{name}: there are no samples")
    drawn = split_by_class(ids[0], shares, seed)
    _warn_of_too_few(drawn, shares, name)
    rows, notes = fill_empty(drawn, name, val_given=has_val, test_given=has_test)
    made: dict[int, tuple[NDArray[Any], NDArray[np.int64]]] = {}
    for chosen in rows:
        made.setdefault(id(chosen), (take_rows(arrays[0], chosen), ids[0][chosen]))
    pieces = [made[id(chosen)] for chosen in rows]
    if has_val:
        pieces[1] = (arrays[1], ids[1])
    if has_test:
        pieces[2] = (arrays[-1], ids[-1])
    elif rows[2] is rows[1]:
        pieces[2] = pieces[1]
    return pieces, notes


def _warn_of_too_few(rows: Sequence[NDArray[np.int64]], shares: Sequence[float], name: str) -> None:
    """Warn of splits that were asked for, and that too few samples leave empty: others will stand in their place."""
    empty = [
        what
        for what, own, share in zip(("training", "validation", "test"), rows, shares, strict=True)
        if share and not len(own)
    ]
    if empty:
        count = sum(map(len, rows))
        warnings.warn(
            f"{name}: {count:,} {'sample is' if count == 1 else 'samples are'} too few for "
            f"{' and '.join(empty)} samples of their own, so splits share samples and scores on them are too good; "
            "give more samples, or val= and test=",
            DovetailWarning,
            stacklevel=5,  # whoever called from_arrays
        )


def _joined(labels: list[object]) -> object:
    """Return the labels of several splits as one list."""
    if len(labels) == 1:
        return labels[0]
    values = [label_values(some) for some in labels]
    numeric = {value.dtype.kind in "iufb" for value in values}
    # numpy would make texts of numbers beside texts
    return np.concatenate(values if len(numeric) == 1 else [value.astype(object) for value in values])


def _feature_names(x: object, shape: tuple[int, ...], features: Sequence[str] | None) -> tuple[str, ...]:
    if isinstance(features, str):
        raise SpecError(f"features are names, one for each; got {features!r:.80}")
    if features is None:
        return tuple(str(column) for column in getattr(x, "columns", ()))
    if shape != (len(features),):
        sides = " × ".join(map(str, shape))
        raise SpecError(
            f"{len(features):,} names of features, and samples of {sides} numbers; give one for each"
        )
    return tuple(str(feature) for feature in features)
