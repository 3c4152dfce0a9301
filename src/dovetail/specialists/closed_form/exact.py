"""Exact sums: first and second moments of features that are whole numbers, as fast as rounding sums.

Features are at most 127, so products of 1,040 samples add up to less than 2²⁴, below which float32 holds every whole
number: a product of matrices over 1,024 samples is exact, in whatever order it adds. Blocks are added in float64, where
whole numbers are exact below 2⁵³, which some 5 · 10¹¹ samples reach.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ...errors import DataError
from .basis import LARGEST_FEATURE

ROWS = 1024
"""Samples of a block: ``ROWS * LARGEST_FEATURE ** 2`` is below 2²⁴."""
MOST_SAMPLES = 2**53 // LARGEST_FEATURE**2
"""Of a sum."""


def second_moment(features: Tensor) -> Tensor:
    """Return the sum of the outer products of features that are whole numbers, exact, in float64.

    Parameters
    ----------
    features : Tensor
        Whole numbers from -127 to 127, float32 ``[samples, size]``.

    Examples
    --------
    >>> second_moment(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[10., 14.],
            [14., 20.]], dtype=torch.float64)
    """
    check_count(len(features))
    total = torch.zeros(features.shape[1], features.shape[1], dtype=torch.float64)
    for block in features.split(ROWS):
        total += block.T @ block
    return total


def first_moment(features: Tensor) -> Tensor:
    """Return the sum of features that are whole numbers, exact, in float64."""
    check_count(len(features))
    return features.sum(0, dtype=torch.float64)


def check_count(samples: int) -> None:
    """Refuse more samples than can be added exactly."""
    if samples > MOST_SAMPLES:
        raise DataError(f"{samples:,} samples are more than can be added exactly ({MOST_SAMPLES:,})")


def packed(moment: Tensor) -> Tensor:
    """Return the upper half of a symmetric matrix of whole numbers as a vector, int32 where it fits, else int64.

    Examples
    --------
    >>> packed(torch.tensor([[1.0, 2.0], [2.0, 5.0]]))
    tensor([1, 2, 5], dtype=torch.int32)
    """
    size = len(moment)
    rows, columns = torch.triu_indices(size, size)
    values = moment[rows, columns]
    fits = not len(values) or float(values.abs().max()) < 2**31
    return values.to(torch.int32 if fits else torch.int64)


def unpacked(values: Tensor, size: int) -> Tensor:
    """Return the symmetric matrix, in float64, of its upper half.

    Examples
    --------
    >>> unpacked(torch.tensor([1, 2, 5]), 2)
    tensor([[1., 2.],
            [2., 5.]], dtype=torch.float64)
    """
    moment = torch.zeros(size, size, dtype=torch.float64)
    rows, columns = torch.triu_indices(size, size)
    moment[rows, columns] = values.double()
    moment[columns, rows] = values.double()
    return moment
