"""Test splits to measure on, as far as they are on this machine: looking at a network never starts a download."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch

from ...data import Split, load
from ...data.dataset import Task
from ...errors import DataError
from ..bench.held_data import presence


@dataclass(frozen=True, eq=False)
class HeldSplit:
    """The test split of a data set, mixed in a fixed order, so that its first samples are a fair sample of it."""

    name: str
    split: Split
    task: Task
    fingerprint: str


def held_split(name: str, fingerprint: str | None = None) -> HeldSplit:
    """Return the test split of a data set.

    Raises
    ------
    DataError
        When the data is not on this machine, or its fingerprint is another.

    Examples
    --------
    >>> len(held_split("digits").split)
    360
    """
    there = presence(name)
    if not there.here:
        raise DataError(there.note)
    found = _loaded(name)
    if fingerprint not in (None, found.fingerprint):
        raise DataError(
            f"{name} here ({found.fingerprint}) is not the data it was trained on ({fingerprint})"
        )
    return found


@lru_cache(maxsize=2)
def _loaded(name: str) -> HeldSplit:
    data = load(name)
    order = torch.randperm(len(data.test), generator=torch.Generator().manual_seed(0))
    return HeldSplit(name, data.test.where(order), data.task, data.fingerprint)
