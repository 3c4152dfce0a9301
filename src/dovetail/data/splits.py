"""Splits that are always the same, and standardising, for data sets that come as files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..errors import DataError

Indices = NDArray[np.int64]

_SEED = 0
"""Splits are part of what a data set is, so no option changes their seed."""


def held_out(count: int, fraction: float, source: str | Path) -> tuple[Indices, Indices]:
    """Return the indices of ``count`` samples as two arrays, the second with ``fraction`` of them.

    Examples
    --------
    >>> kept, held = held_out(10, 0.2, "an example")
    >>> len(kept), len(held), sorted([*kept, *held]) == list(range(10))
    (8, 2, True)
    """
    held = round(count * fraction)
    if not 0 < held < count:
        raise DataError(f"{source}: {count} samples cannot give a validation split of {fraction:g} of them")
    order = np.random.default_rng(_SEED).permutation(count)
    return order[held:], order[:held]


def stratified(labels: NDArray[np.int64], fraction: float, source: str | Path) -> tuple[Indices, Indices]:
    """Return the indices as two arrays with the same share of every class, the second holding ``fraction``.

    They are those of scikit-learn's `train_test_split`, index by index, without the second that its import takes.

    Examples
    --------
    >>> labels = np.repeat([0, 1], [50, 10])
    >>> kept, held = stratified(labels, 0.2, "an example")
    >>> np.bincount(labels[held]).tolist()
    [10, 2]
    """
    _, of_class, counts = np.unique(labels, return_inverse=True, return_counts=True)
    held = math.ceil(fraction * len(labels))
    if not len(counts) or counts.min() < 2 or len(counts) > min(held, len(labels) - held):
        raise DataError(
            f"{source}: too few samples to split by class ({len(labels):,} of {len(counts):,} classes, the smallest "
            f"with {min(counts, default=0)}; both parts need one of each)"
        )
    draw = np.random.RandomState(_SEED)
    staying = _shares(counts, len(labels) - held, draw)
    leaving = _shares(counts - staying, held, draw)
    parts: tuple[list[Indices], list[Indices]] = ([], [])
    rows = np.split(np.argsort(of_class, kind="stable"), counts.cumsum()[:-1])
    for own, stay, leave in zip(rows, staying, leaving, strict=True):
        shuffled = own[draw.permutation(len(own))]
        parts[0].append(shuffled[:stay])
        parts[1].append(shuffled[stay : stay + leave])
    kept, taken = (draw.permutation(np.concatenate(part)) for part in parts)
    return kept, taken


def _shares(counts: NDArray[np.int64], total: int, draw: np.random.RandomState) -> NDArray[np.int64]:
    """Return how many of each class there are among ``total``; the largest remainders round up, equal ones by lot."""
    exact = counts / counts.sum() * total
    shares = np.floor(exact)
    left, remainders = int(total - shares.sum()), exact - shares
    for remainder in np.unique(remainders)[::-1]:
        if left:
            (equal,) = np.nonzero(remainders == remainder)
            chosen = draw.choice(equal, size=min(len(equal), left), replace=False)
            shares[chosen] += 1
            left -= len(chosen)
    whole: Indices = shares.astype(np.int64)
    return whole


def stratified_in_three(labels: NDArray[np.int64], source: str | Path) -> tuple[Indices, Indices, Indices]:
    """Return the indices as three arrays of 64, 16 and 20 % with the same share of every class."""
    rest, test = stratified(labels, 0.2, source)
    train, val = stratified(labels[rest], 0.2, source)
    return rest[train], rest[val], test


def standardise_(train: Tensor, *others: Tensor, over: tuple[int, ...] = (0,)) -> None:
    """Shift and scale in place to mean 0 and variance 1 in ``train``; the others follow, and teach nothing.

    What is constant in ``train`` is shifted to 0 and keeps its scale.

    Examples
    --------
    >>> train, test = torch.tensor([[1.0, 5.0], [3.0, 5.0]]), torch.tensor([[5.0, 6.0]])
    >>> standardise_(train, test)
    >>> train.tolist(), test.tolist()
    ([[-1.0, 0.0], [1.0, 0.0]], [[3.0, 1.0]])
    """
    spread, mean = torch.std_mean(train, dim=over, correction=0, keepdim=True)
    # torch updates mean and spread sample by sample, so a constant has a spread of exactly 0.
    spread[spread == 0] = 1
    for tensor in (train, *others):
        tensor.sub_(mean).div_(spread)
