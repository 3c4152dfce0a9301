"""The content of one class in sums: its samples as whole numbers, or nothing but their moments.

Both give the same sums. Samples are kept where they are smaller; then a single one can be proven to be among them and
taken out. Moments hold no sample, and take one out by subtracting what it had added.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...errors import MisfitError
from .basis import LARGEST_FEATURE, Basis
from .exact import check_count, first_moment, packed, second_moment, unpacked

Keep = Literal["smaller", "samples", "moments"]
"""What a part holds of its samples."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of a class as whole numbers, in an order of their own: equal samples, equal content.

    Attributes
    ----------
    numbers : Tensor
        int16 ``[samples, width]``, rows sorted.
    """

    numbers: Tensor

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.numbers)

    @cached_property
    def digest(self) -> str:
        """Hash of all of them."""
        return hashlib.sha256(b"samples" + self.numbers.numpy().tobytes()).hexdigest()[:32]

    def minus(self, gone: Samples) -> Samples | None:
        """Return what is left without some of them; None where nothing is.

        Raises
        ------
        MisfitError
            When one of them is not there, or not as often.
        """
        both = torch.cat([self.numbers, gone.numbers])
        _, first, of = np.unique(_as_bytes(both), return_index=True, return_inverse=True)
        held = np.bincount(of[: self.count], minlength=len(first))
        left = held - np.bincount(of[self.count :], minlength=len(first))
        missing = -int(left[left < 0].sum())
        if missing:
            raise MisfitError(f"{missing:,} of these {gone.count:,} samples are not in the sums")
        rows = both[torch.from_numpy(np.repeat(first, left))]
        return Samples(rows) if len(rows) else None


@dataclass(frozen=True, eq=False)
class Moments:
    """The moments of the samples of a class: how many, the sum of their features, and of the outer products of these.

    Attributes
    ----------
    count : int
        How many samples there are.
    first : Tensor
        int64 ``[size]``.
    second : Tensor
        The upper half of a symmetric matrix, int32 or int64 ``[size (size + 1) / 2]``.
    """

    count: int
    first: Tensor
    second: Tensor

    @cached_property
    def digest(self) -> str:
        """Hash of all of it."""
        what = hashlib.sha256(f"moments {self.count}".encode())
        for tensor in (self.first, self.second):
            what.update(tensor.long().numpy().tobytes())
        return what.hexdigest()[:32]

    def plus(self, other: Moments, sign: int = 1) -> Moments | None:
        """Return the moments of both together, or with ``sign=-1`` of what is left; None where nothing is.

        Raises
        ------
        MisfitError
            When what is left are the moments of nothing: more was taken out than there was.
        """
        count = self.count + sign * other.count
        check_count(count)
        first = self.first + sign * other.first
        second = self.second.long() + sign * other.second.long()
        nothing_left = count == 0 and not bool(first.any()) and not bool(second.any())
        if nothing_left:
            return None
        size = len(first)
        diagonal = second[_diagonal(size)]
        # A sum of squares is at least the square of the sum over the count, and at most so many of the largest.
        least = first.double().square() / max(count, 1) * (1 - 1e-12)
        if count < 1 or bool((diagonal < least).any()) or bool((diagonal > count * LARGEST_FEATURE**2).any()):
            raise MisfitError(f"these {other.count:,} samples are not in the sums")
        return Moments(count, first, _narrowed(second))


Content = Samples | Moments


def content_of(numbers: Tensor, basis: Basis, keep: Keep = "smaller") -> Content:
    """Return the content of a class.

    Parameters
    ----------
    numbers : Tensor
        What `Basis.numbers` gives, at least one row.
    basis : Basis
        Of which basis the sums are.
    keep : {"smaller", "samples", "moments"}
        What to hold; by default what takes less space.

    Examples
    --------
    >>> basis = Basis(inputs=2, features=3)
    >>> numbers = basis.numbers(torch.rand(20, 2))
    >>> type(content_of(numbers, basis)).__name__, type(content_of(numbers[:2], basis)).__name__
    ('Moments', 'Samples')
    """
    samples = Samples(_in_order(numbers))
    bytes_of_moments = 4 * basis.size * (basis.size + 1) // 2 + 8 * basis.size
    if keep == "samples" or (keep == "smaller" and 2 * numbers.numel() <= bytes_of_moments):
        return samples
    return moments_of(samples, basis)


def moments_of(content: Content, basis: Basis) -> Moments:
    """Return the moments of a class."""
    if isinstance(content, Moments):
        return content
    features = basis.features_of(content.numbers)
    return Moments(content.count, first_moment(features).long(), packed(second_moment(features)))


def joined(contents: Sequence[Content], basis: Basis) -> Content:
    """Return the content of the samples of several together, in whatever order."""
    if len(contents) == 1:
        return contents[0]
    if all(isinstance(content, Samples) for content in contents):
        return Samples(_in_order(torch.cat([content.numbers for content in contents])))  # type: ignore[union-attr]
    total, *others = (moments_of(content, basis) for content in contents)
    for other in others:
        both = total.plus(other)
        assert both is not None
        total = both
    return total


def without(content: Content, gone: Content, basis: Basis) -> Content | None:
    """Return what is left of a class without some of its samples; None where nothing is."""
    if isinstance(content, Samples) and isinstance(gone, Samples):
        return content.minus(gone)
    return moments_of(content, basis).plus(moments_of(gone, basis), sign=-1)


def moments_together(contents: Sequence[Content], basis: Basis) -> tuple[Tensor, Tensor]:
    """Return the moments of several classes, whole numbers in float64.

    Returns
    -------
    first : Tensor
        The sum of the features of each class, ``[size, classes]``.
    second : Tensor
        The sum of the outer products of all features, ``[size, size]``.
    """
    check_count(sum(content.count for content in contents))
    first = torch.zeros(basis.size, len(contents), dtype=torch.float64)
    second = torch.zeros(basis.size, basis.size, dtype=torch.float64)
    held = [(place, content) for place, content in enumerate(contents) if isinstance(content, Samples)]
    if held:
        # Together, so that products are of as many samples as can be.
        numbers = torch.cat([content.numbers for _, content in held])
        places = torch.cat([torch.full((content.count,), place) for place, content in held])
        for some, own in zip(numbers.split(_AT_ONCE), places.split(_AT_ONCE), strict=True):
            features = basis.features_of(some)
            first.index_add_(1, own, features.T.double())
            second += second_moment(features)
    for place, content in enumerate(contents):
        if isinstance(content, Moments):
            first[:, place] += content.first
            second += unpacked(content.second, basis.size)
    return first, second


_AT_ONCE = 8192


def _in_order(numbers: Tensor) -> Tensor:
    """Return rows in the order of their bytes, the same whatever order they came in."""
    return numbers[torch.from_numpy(np.argsort(_as_bytes(numbers), kind="stable"))]


def _as_bytes(numbers: Tensor) -> NDArray[np.void]:
    """Return each row as one value, which numpy compares byte by byte."""
    rows = numbers.contiguous().numpy()
    return rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()


def _diagonal(size: int) -> Tensor:
    """Return where the diagonal stands in the upper half of a matrix, row by row."""
    row = torch.arange(size)
    return row * size - row * (row - 1) // 2


def _narrowed(second: Tensor) -> Tensor:
    return second.int() if not len(second) or int(second.abs().max()) < 2**31 else second
