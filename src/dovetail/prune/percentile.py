"""Percentiles: which values lie above one, row by row, when most of a row are zeros that are not even stored."""

from __future__ import annotations

import torch
from torch import Tensor


def above_percentile(values: Tensor, shares: Tensor, total: int) -> Tensor:
    """Return which values lie above each row's percentile of all its values.

    Percentiles are interpolated linearly, as `numpy.percentile` does. Values at the percentile do not lie above it, so
    that even a share of 0 leaves out the lowest.

    Parameters
    ----------
    values : Tensor
        Not negative, ``[rows, stored]``.
    shares : Tensor
        The percentile of each row as a share from 0 to 1, float64.
    total : int
        How many values a row really has; those not stored are 0.

    Examples
    --------
    >>> values = torch.tensor([[3.0, 1.0, 2.0]])
    >>> above_percentile(values, torch.tensor([0.5]).double(), total=3)
    tensor([[ True, False, False]])
    >>> above_percentile(values, torch.tensor([0.5]).double(), total=6)  # three zeros more: half of 1 is the median
    tensor([[True, True, True]])
    """
    ordered = values.double().sort(dim=1).values
    place = shares * (total - 1)
    not_stored = total - values.shape[1]
    low, high = (_entry(ordered, end.long() - not_stored) for end in (place.floor(), place.ceil()))
    return values.double() > torch.lerp(low, high, place - place.floor()).unsqueeze(1)


def _entry(ordered: Tensor, index: Tensor) -> Tensor:
    """Return one entry of each row, 0 where it is one of those that are not stored."""
    found = ordered.gather(1, index.clamp(min=0).unsqueeze(1)).squeeze(1)
    return torch.where(index < 0, 0.0, found)
