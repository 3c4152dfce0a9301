"""Samples as they count in a fit: equal ones are one sample whose weight is the sum, in an order of their own.

So it makes no difference whether a sample is given twice or with weight 2, nor in which order samples come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.preparation import Numbers
from ..errors import DataError

LARGEST = 1e30
"""Of numbers; their squares are no numbers in float32, but differences and shares of them are."""
HELD_OUT = 0.1
"""Share of each class that is held back where a threshold has to be chosen."""


class InputError(DataError, ValueError):
    """Input that nothing can be learned from; also a `ValueError`, which is what scikit-learn's tools expect."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of which no two are equal.

    Attributes
    ----------
    x : array
        ``[samples, features]``.
    ids : array
        The class of each.
    weights : array
        How much each counts.

    Examples
    --------
    >>> twice = Samples.distinct(np.array([[1.0], [2.0], [1.0]]), np.array([0, 1, 0]), np.ones(3))
    >>> sorted(zip(twice.x.ravel().tolist(), twice.weights.tolist()))
    [(1.0, 2.0), (2.0, 1.0)]
    """

    x: NDArray[Any]
    ids: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def distinct(
        cls, x: NDArray[np.float64], ids: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> Samples:
        """Return samples with equal ones of a class put together."""
        # Each row as one run of bytes, which sorting compares as a whole. Adding 0 makes 0 of -0, which equals it.
        rows = np.empty((len(x), x.shape[1] + 1))
        np.add(x, 0.0, out=rows[:, :-1])
        rows[:, -1] = ids
        as_bytes = rows.view(np.dtype((np.void, rows.strides[0]))).ravel()
        _, first, which = np.unique(as_bytes, return_index=True, return_inverse=True)
        order = np.lexsort((weights, which))  # sums round otherwise in another order
        return cls(x[first], ids[first], np.bincount(which[order], weights[order]).astype(np.float64))

    def __len__(self) -> int:
        return len(self.x)

    def where(self, keep: NDArray[np.bool_]) -> Samples:
        """Return some of the samples."""
        return Samples(self.x[keep], self.ids[keep], self.weights[keep])

    def of(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the samples of a class, and their weights."""
        rows = self.ids == number
        return self.x[rows].astype(np.float64), self.weights[rows]

    def joined(self, *others: Samples) -> Samples:
        """Return these and others."""
        every = (self, *others)
        return Samples(
            np.concatenate([each.x for each in every]),
            np.concatenate([each.ids for each in every]),
            np.concatenate([each.weights for each in every]),
        )

    def scaling(self, names: tuple[str, ...] = ()) -> Numbers:
        """Return what scales each feature to mean 0 and variance 1; one that is constant only to mean 0."""
        largest = np.abs(self.x).max()
        if not largest < LARGEST:
            raise InputError(f"a number is {largest:g}; beyond {LARGEST:g} they are too large for float32")
        share = self.weights / self.weights.sum()
        mean = share @ self.x
        spread = np.sqrt(share @ np.square(self.x - mean))
        spread[spread <= 1e-12 * np.maximum(np.abs(mean), 1e-300)] = 1.0
        return Numbers(
            raw_shape=self.x.shape[1:], shift=tuple(mean.tolist()), scale=tuple(spread.tolist()), names=names
        )

    def scaled(self, scaling: Numbers) -> Samples:
        """Return them as a network sees them."""
        return Samples(scaling(self.x).numpy(), self.ids, self.weights)

    def held_out(self, seed: int, share: float = HELD_OUT) -> tuple[Samples, Samples]:
        """Return samples to train on, and a share of every class to choose a threshold on.

        At least one of each class is trained on; classes of three and more samples have one held back.
        """
        generator = np.random.default_rng(seed)
        held = np.zeros(len(self), dtype=np.bool_)
        for number in np.unique(self.ids):
            rows = generator.permutation(np.flatnonzero(self.ids == number))
            count = max(round(share * len(rows)), int(len(rows) > 2))
            held[rows[: min(count, len(rows) - 1)]] = True
        return self.where(~held), self.where(held)
