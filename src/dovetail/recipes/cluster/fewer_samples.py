"""Data sets with fewer training samples."""

from __future__ import annotations

from dataclasses import replace

from ...data.dataset import Dataset, Split


def first_samples(data: Dataset, samples: int | None) -> Dataset:
    """Return the data with so many training samples, counting those for validation, which train too.

    Examples
    --------
    >>> import dovetail as dt
    >>> first_samples(dt.load("digits"), 500)
    Dataset('digits', 400/100/360, input_shape=(1, 8, 8), outputs=10)
    """
    whole = len(data.train) + len(data.val)
    if samples is None or samples >= whole:
        return data
    kept = max(1, round(samples * len(data.val) / whole))
    return replace(data, train=_first(data.train, samples - kept), val=_first(data.val, kept))


def _first(split: Split, samples: int) -> Split:
    return Split(split.x[:samples], split.y[:samples])
