"""The test splits that views measure on: each held once, from what is on this machine, never from the network."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..data import Split, load_here
from ..data.dataset import Task
from ..specialists.merge import some_of
from .cache import Cache

_MOST_HELD = 2


@dataclass(frozen=True, eq=False)
class HeldData:
    """What the studio keeps of a data set.

    Attributes
    ----------
    name, fingerprint : str
        Which data it is.
    task : {"classes", "bits", "values"}
        What its targets are.
    classes : tuple of str
        What its outputs stand for.
    test : Split
        The test split in a fixed order, mixed, so that its first samples, however many, are a fair sample of it.
    inputs : Tensor
        Training samples to calibrate on, from all over.
    """

    name: str
    fingerprint: str
    task: Task
    classes: tuple[str, ...]
    test: Split
    inputs: Tensor

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one sample."""
        return tuple(self.test.x.shape[1:])


class DataCache:
    """The data sets that were used last; safe for threads.

    Examples
    --------
    >>> len(DataCache().get("digits").test)
    360
    """

    def __init__(self) -> None:
        self._held = Cache[HeldData](_MOST_HELD)

    def get(self, name: str) -> HeldData:
        """Return a data set, loaded when first asked for.

        Raises
        ------
        DataError
            When it is not on this machine.
        """
        return self._held.get(name, lambda: _load(name))


def _load(name: str) -> HeldData:
    data = load_here(name)
    order = torch.randperm(len(data.test), generator=torch.Generator().manual_seed(0))
    return HeldData(
        data.name, data.fingerprint, data.task, data.classes, data.test.where(order), some_of(data.train.x)
    )
