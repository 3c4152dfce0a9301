"""Official splits: samples that say themselves whether they train, validate or test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from .splitting import USUAL, Indices, Shares, check_shares, fill_empty, split_by_class

SPLIT_NAMES = {
    "train": 0,
    "training": 0,
    "val": 1,
    "valid": 1,
    "validation": 1,
    "dev": 1,
    "test": 2,
    "testing": 2,
}
"""What train, val and test (0, 1 and 2) are called in files and folders, in small letters."""


def split_number(name: object) -> int | None:
    """Return 0, 1 or 2 for what stands for train, val or test; None for anything else.

    Examples
    --------
    >>> split_number("Train"), split_number(" dev"), split_number("fold 3")
    (0, 1, None)
    """
    return SPLIT_NAMES.get(str(name).strip().casefold())


def three_rows(
    ids: NDArray[np.int64],
    official: NDArray[np.int64] | None = None,
    *,
    shares: Sequence[float] | None = None,
    seed: int = 0,
    name: str,
) -> tuple[list[Indices], tuple[str, ...]]:
    """Return the rows of train, val and test, and notes: official ones as they are, the others drawn by class.

    Parameters
    ----------
    ids : array
        The class of each sample.
    official : array of int, optional
        0, 1 or 2 for each sample that is of train, val or test. A split that nothing is of is taken out of train.
    shares : tuple of float, optional
        Shares of train, val and test; by default 64, 16 and 20 %.
    seed : int
        What splits are drawn from.
    name : str
        What messages call the data.

    Examples
    --------
    >>> rows, notes = three_rows(np.zeros(8, np.int64), np.array([0, 0, 0, 0, 0, 2, 2, 2]), name="an example")
    >>> [len(some) for some in rows]
    [4, 1, 3]
    """
    train, val, test = check_shares(USUAL if shares is None else shares)
    if official is None:
        return fill_empty(split_by_class(ids, (train, val, test), seed), name)
    given = [np.flatnonzero(official == number) for number in range(3)]
    if not len(given[0]):
        raise DataError(f"{name}: no samples are of the training split; all are of validation or test")
    missing: Shares = check_shares((train, 0.0 if len(given[1]) else val, 0.0 if len(given[2]) else test))
    drawn = [given[0][some] for some in split_by_class(ids[given[0]], missing, seed)]
    # Where splits are official, the samples stay in the order of their file.
    rows = [
        np.sort(drawn[0]),
        *(np.sort(d) if len(d) else g for d, g in zip(drawn[1:], given[1:], strict=True)),
    ]
    return fill_empty(rows, name)
