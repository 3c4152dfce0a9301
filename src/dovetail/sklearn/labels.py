"""Labels as users have them: put together when more come, and one more that stands for "undecided"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from ..errors import SpecError
from ..specialists import UNDECIDED
from .samples import InputError


def joined_labels(labels: NDArray[Any], more: ArrayLike | None) -> NDArray[Any]:
    """Return labels and others, each once, sorted.

    Examples
    --------
    >>> joined_labels(np.array([3, 1, 3]), [2, 3])
    array([1, 2, 3])
    """
    others = labels[:0] if more is None else np.asarray(column_or_1d(more))
    kinds = {"number" if each.dtype.kind in "iuf" else each.dtype.kind for each in (labels, others)}
    if len(kinds) > 1 and not kinds <= set("OUT"):
        raise InputError(
            f"labels of types {labels.dtype} and {others.dtype} side by side; give all in one type"
        )
    try:
        return np.unique(np.concatenate([labels, others]))
    except TypeError:
        raise InputError(
            "labels of different types, such as texts and numbers; give all in one type"
        ) from None


def label_for_undecided(label: object, labels: NDArray[Any]) -> object:
    """Return what stands for "undecided" among labels: what was asked for, or what is usual.

    Examples
    --------
    >>> label_for_undecided(None, np.array(["cat", "dog"])), label_for_undecided(None, np.array([0, 1]))
    ('undecided', -1)
    """
    if label is None:
        if labels.dtype.kind == "b":
            raise SpecError("classes are truth values, and undecided is neither; choose an undecided_label")
        label = -1 if labels.dtype.kind in "iuf" else UNDECIDED
    if label in labels.tolist():
        raise SpecError(
            f"{label!r} is a class, so it cannot stand for 'undecided'; choose another undecided_label"
        )
    return label
