"""Splitting: which samples train, which choose the best epoch, and which are held back to measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError, SpecError

Indices = NDArray[np.int64]
Shares = tuple[float, float, float]

USUAL: Shares = (0.64, 0.16, 0.2)
"""Shares of train, val and test: a fifth to measure on, a fifth of the rest to choose on."""


def check_shares(split: object) -> Shares:
    """Return the shares of the three splits as they were given, made to add up to 1.

    Examples
    --------
    >>> check_shares((8, 1, 1))
    (0.8, 0.1, 0.1)
    """
    if (
        not isinstance(split, Sequence)
        or isinstance(split, str)
        or len(split) != 3
        or not all(isinstance(share, int | float | np.number) and 0 <= share < 1e9 for share in split)
        or not split[0] > 0
    ):
        raise SpecError(
            f"split is the shares of train, val and test, such as (0.64, 0.16, 0.2), train above 0; got {split!r:.80}"
        )
    total = float(sum(split))
    train, val, test = (float(share) / total for share in split)
    return train, val, test


def split_by_class(ids: Indices, shares: Shares, seed: int = 0) -> tuple[Indices, Indices, Indices]:
    """Return the rows of train, val and test, each with the same share of every class as nearly as can be.

    A class with three and more samples is in every split that has a share; train comes first where there are fewer.

    Examples
    --------
    >>> train, val, test = split_by_class(np.repeat([0, 1], [50, 10]), (0.6, 0.2, 0.2))
    >>> len(train), len(val), len(test)
    (36, 12, 12)
    """
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(len(ids))
    _, first, sizes = np.unique(ids[shuffled], return_index=True, return_counts=True)
    by_class = np.split(shuffled[np.argsort(ids[shuffled], kind="stable")], np.cumsum(sizes)[:-1])
    parts: list[list[Indices]] = [[], [], []]
    # Where shares leave fractions of a sample, they are carried over from class to class, so sizes come out right.
    owed = np.zeros(2)
    # Classes come as they are met, whatever their ids: the same samples are split alike with another class list.
    for rows in (by_class[number] for number in np.argsort(first)):
        owed += np.multiply(shares[1:], len(rows))
        least_val, least_test = (
            bool(share) and len(rows) > few for share, few in zip(shares[1:], (1, 2), strict=True)
        )
        val = min(max(round(owed[0]), least_val), max(len(rows) - 1 - least_test, 0))
        test = min(max(round(owed[1]), least_test), len(rows) - 1 - val)
        owed -= val, test
        for part, chosen in zip(
            parts, np.split(rows, [len(rows) - val - test, len(rows) - test]), strict=True
        ):
            part.append(chosen)
    train, val_rows, test_rows = (
        generator.permutation(np.concatenate(part).astype(np.int64)) if part else np.zeros(0, np.int64)
        for part in parts
    )
    return train, val_rows, test_rows


def fill_empty(
    rows: Sequence[Indices], name: str, *, val_given: bool = False, test_given: bool = False
) -> tuple[list[Indices], tuple[str, ...]]:
    """Return the three splits with others in place of those without samples, and notes that say so.

    Nothing is noted of a split that was given apart, and is not among these rows.
    """
    train, val, test = rows
    if not len(train):
        raise DataError(f"{name}: there are no samples to train on")
    notes = []
    if not len(val):
        val = train
        if not val_given:
            notes.append(
                "there are no samples to choose the best epoch on: validation is on the training samples"
            )
    if not len(test):
        test = val
        if not test_given:
            notes.append(
                "no samples are held back for a test: scores on the test split are those of validation"
            )
    return [train, val, test], tuple(notes)
