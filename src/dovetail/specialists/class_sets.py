"""Sets of classes: as users write them, and random disjoint pairs for experiments."""

from __future__ import annotations

import itertools
import math
import operator
import random
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from ..errors import SpecError, unknown_name
from .class_lists import check_answer

ClassName = int | str
ClassSet = tuple[int, ...]
"""Class ids in ascending order."""

_MOST_DIGITS = 18
"""Of a number that may be an id; Python refuses to read one of thousands."""


def class_id(name: ClassName, classes: Sequence[str]) -> int:
    """Return the id of a class, given by id or name.

    Examples
    --------
    >>> class_id("dog", ["cat", "dog"]), class_id(0, ["cat", "dog"])
    (1, 0)
    """
    if isinstance(name, str):
        if name in classes:
            return list(classes).index(name)
        raise unknown_name("class", name, classes)
    try:
        number = -1 if isinstance(name, bool) else operator.index(name)
    except TypeError:
        number = -1
    if not 0 <= number < len(classes):
        raise SpecError(
            f"a class is an id from 0 to {len(classes) - 1} or a name ({_shortened(classes)}); got {name!r:.80}"
        )
    return number


def class_of_text(text: str, classes: Sequence[str]) -> int:
    """Return the id of a class that was typed: its name, or else its id.

    Examples
    --------
    >>> class_of_text("dog", ["cat", "dog"]), class_of_text("1", ["cat", "dog"]), class_of_text("1", ["1", "0"])
    (1, 1, 0)
    """
    text = text.strip()
    number = text.isdecimal() and len(text) <= _MOST_DIGITS and text not in classes
    return class_id(int(text) if number else text, classes)


def sets_of_texts(texts: Iterable[str], classes: Sequence[str]) -> list[list[int]]:
    """Return sets of classes as they were typed, separated by commas; a name may have a comma in it.

    Examples
    --------
    >>> sets_of_texts(["dog", "0,1", "cat, tabby"], ["cat", "dog", "cat, tabby"])
    [[1], [0, 1], [2]]
    """
    return [
        [class_of_text(name, classes) for name in ([text] if text.strip() in classes else text.split(","))]
        for text in texts
    ]


def class_sets(
    rewarded: Iterable[ClassName | Iterable[ClassName]] | None, classes: Sequence[str]
) -> list[ClassSet]:
    """Return the rewarded sets as class ids: one class each when ``rewarded`` is None.

    Examples
    --------
    >>> class_sets([0, ("dog", "cat")], ["cat", "dog", "owl"])
    [(0,), (0, 1)]
    >>> class_sets(None, ["cat", "dog"])
    [(0,), (1,)]
    """
    if rewarded is None:
        check_answer(classes)
        return [(number,) for number in range(len(classes))]
    if isinstance(rewarded, str) or not isinstance(rewarded, Iterable):
        raise SpecError(f"rewarded is a list with an entry per specialist; write [{rewarded!r}]")
    sets = []
    for entry in rewarded:
        names = list(entry) if isinstance(entry, Iterable) and not isinstance(entry, str) else [entry]
        ids = [class_id(name, classes) for name in names]
        if not ids or len(set(ids)) < len(ids):
            raise SpecError(f"a rewarded set names at least one class, each once; got {entry!r:.80}")
        check_answer(classes[number] for number in ids)
        sets.append(tuple(sorted(ids)))
    if not sets:
        raise SpecError("rewarded names no specialist; leave it out for one per class")
    return sets


def disjoint_pairs(
    classes: int, size: int, pairs: int = 10, *, seed: int = 0
) -> list[tuple[ClassSet, ClassSet]]:
    """Return random pairs of disjoint class sets, no pair twice.

    When there are no more than ``pairs`` such pairs, all of them are returned.

    Examples
    --------
    >>> disjoint_pairs(4, 2)
    [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
    >>> len(disjoint_pairs(10, 5, pairs=10, seed=1))
    10
    """
    if size < 1 or 2 * size > classes:
        raise SpecError(f"no two disjoint sets of {size} among {classes} classes")
    if math.comb(classes, size) * math.comb(classes - size, size) // 2 <= pairs:
        firsts = itertools.combinations(range(classes), size)
        return [
            (first, second)
            for first in firsts
            for second in itertools.combinations(range(first[0] + 1, classes), size)
            if not set(first) & set(second)
        ]
    chance, chosen = random.Random(seed), set[tuple[ClassSet, ClassSet]]()
    while len(chosen) < pairs:
        drawn = chance.sample(range(classes), 2 * size)
        first, second = sorted([tuple(sorted(drawn[:size])), tuple(sorted(drawn[size:]))])
        chosen.add((first, second))
    return sorted(chosen)


def one_hot_sets(sets: Sequence[Sequence[int]], classes: int) -> Tensor:
    """Return class sets as rows of 0/1.

    Examples
    --------
    >>> one_hot_sets([(0,), (1, 2)], 3).int()
    tensor([[1, 0, 0],
            [0, 1, 1]], dtype=torch.int32)
    """
    flat = bytearray(len(sets) * classes)
    for row, ids in enumerate(sets):
        for number in ids:
            flat[row * classes + number] = 1
    return torch.frombuffer(flat, dtype=torch.bool).view(len(sets), classes)


def named(rewarded: Iterable[int], classes: Sequence[str], *, most: int = 12) -> str:
    """Return class names for messages and tables.

    Examples
    --------
    >>> named((0, 2), ["cat", "dog", "owl"])
    'cat, owl'
    """
    return _shortened([classes[number] for number in rewarded], most)


def _shortened(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
