"""Alike: preparing new data as data was prepared before, with the class list from then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ..preparation import Preparation
from .labels import class_labels
from .wording import listed


class Like(Protocol):
    """Whatever has a preparation and a class list: a data set, a specialist, a composite."""

    @property
    def preparation(self) -> Preparation | None:
        """What turns raw samples into those that it takes."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Its class list."""


def preparation_of(like: Like) -> Preparation:
    """Return how raw samples become such as something takes.

    Raises
    ------
    DataError
        When it takes only samples that are prepared already.
    """
    if not hasattr(like, "preparation"):
        raise DataError(
            f"like= takes a data set, specialist or composite that is open already, not {type(like).__name__}; for a "
            "file write dovetail.open(path)"
        )
    if like.preparation is None:
        raise DataError(
            "this was trained on data that is loaded by name, so it does not know how raw samples are to be prepared; "
            "give it data by that name, or train it on what dovetail.read gives"
        )
    return like.preparation


def ids_like(labels: object, like: Like, classes: Sequence[str] | None = None) -> NDArray[np.int64]:
    """Return labels as ids in the class list of something else.

    Labels are matched by name, whole numbers too: a class "7" is the label 7, whatever its place in the list.

    Parameters
    ----------
    labels : array or sequence
        One label per sample.
    like : Dataset, Specialist or Composite
        What has the class list.
    classes : sequence of str, optional
        Names that whole numbers as labels stand for.

    Raises
    ------
    DataError
        For labels that are not in the list, naming them.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> ids_like([7, 3], SimpleNamespace(preparation=None, classes=("3", "5", "7")))
    array([2, 0])
    """
    found = class_labels(labels, classes)
    place = {name: number for number, name in enumerate(like.classes)}
    occurring = [found.classes[number] for number in np.unique(found.ids)]
    odd = [name for name in occurring if name not in place]
    if odd:
        raise DataError(
            f"labels {listed(odd)} are not in the class list ({listed(like.classes)}); leave these samples out, or "
            "train on this data anew"
        )
    return np.array([place.get(name, -1) for name in found.classes], dtype=np.int64)[found.ids]
