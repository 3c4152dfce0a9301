"""The blueprint of sums: their basis, the shape of samples, and the names of classes, which are joined by name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ...data.preparation import Preparation
from ..blueprint import Interface
from .basis import Basis


@dataclass(frozen=True)
class SumsBlueprint(Interface):
    """What sums take and answer.

    Attributes
    ----------
    basis : Basis
        The features that are summed.
    input_shape : tuple of int
        Shape of one sample.
    classes : tuple of str
        What each output stands for.
    preparation : Preparation or None
        What turns raw samples into inputs, for data of one's own.
    """

    basis: Basis
    input_shape: tuple[int, ...]
    classes: tuple[str, ...]
    preparation: Preparation | None = None

    @property
    def what(self) -> str:
        """The kind of part."""
        return f"sums ({self.basis})"

    @property
    def text(self) -> str:
        """All of it but the class list, as text, the same in every version of the library."""
        prepared = None if self.preparation is None else self.preparation.digest
        return json.dumps([self.basis.digest, self.input_shape, prepared])


def joined_classes(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return one class list for several: the same if they all are, else all names in alphabetical order.

    Either way it does not matter in which order, or in which steps, lists are joined.

    Examples
    --------
    >>> joined_classes([["b", "a"], ["b", "a"]]), joined_classes([["b", "a"], ["c"]])
    (('b', 'a'), ('a', 'b', 'c'))
    """
    first = tuple(lists[0])
    if all(tuple(one) == first for one in lists):
        return first
    return tuple(sorted({name for one in lists for name in one}))
