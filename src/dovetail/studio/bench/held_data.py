"""The test splits that composites are measured on: from what is on this machine, never from the network."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ...data import DataInfo, Split, catalogue, load
from ...errors import DataError
from ...specialists.basis import Basis
from ...specialists.calibrate import MOST_INPUTS
from .recent import Recent

_MOST_HELD = 2


@dataclass(frozen=True)
class Presence:
    """Whether data can be measured on here; else ``note`` says why not and what to do."""

    name: str
    here: bool
    note: str = ""


@dataclass(frozen=True, eq=False)
class HeldData:
    """What the bench keeps of a data set.

    Attributes
    ----------
    name, fingerprint : str
        Which data it is.
    test : Split
        The test split in a fixed order, mixed, so that the first so many samples are a fair sample of it.
    inputs : Tensor
        Training samples to calibrate on: all, or as many from all over as calibration looks at.
    classes : tuple of str
        Its classes.
    """

    name: str
    fingerprint: str
    test: Split
    inputs: Tensor
    classes: tuple[str, ...]

    def check(self, basis: Basis) -> None:
        """Refuse to measure networks that were made for other data."""
        shape = tuple(self.test.x.shape[1:])
        if self.classes != basis.classes or shape != basis.input_shape:
            raise DataError(
                f"{self.name} here has other classes or samples of another shape than these specialists were trained "
                "for, so they cannot be measured on it; load it with the options of their training, in Python"
            )

    def note(self, fingerprint: str) -> str:
        """Return what to know about a measurement of specialists that were trained on data with a fingerprint."""
        if fingerprint == self.fingerprint:
            return ""
        return (
            f"{self.name} here ({self.fingerprint}) is not what they were trained on ({fingerprint}), perhaps for "
            "other options; some of these test samples may have been used in training"
        )


def presence(name: str) -> Presence:
    """Return whether a data set can be loaded without a download.

    Examples
    --------
    >>> presence("digits")
    Presence(name='digits', here=True, note='')
    >>> presence("my own").here
    False
    """
    try:
        known = {info.name: info for info in catalogue()}
    except DataError as error:  # a folder for data that cannot be looked into
        return Presence(name, False, str(error))
    if name not in known:
        return Presence(
            name,
            False,
            f"{name} is no data set that dovetail loads by name; measure the saved composite in Python",
        )
    missing = _missing_files(known[name], known)
    if missing is None:
        return Presence(name, True)
    return Presence(
        name, False, f"{missing} is not on this machine; get it with: dovetail data get {missing}"
    )


def _missing_files(info: DataInfo, known: dict[str, DataInfo]) -> str | None:
    """Return the data set whose files are not here, of one and those that it is built on."""
    if info.kind == "files":
        return None if info.found else info.name
    return _missing_files(known[info.needs], known) if info.needs else None


class DataShelf:
    """The data sets that were used last."""

    def __init__(self) -> None:
        self._held = Recent[HeldData](_MOST_HELD)

    def get(self, name: str) -> HeldData:
        """Return a data set, loaded when first asked for.

        Raises
        ------
        DataError
            When it is not on this machine, or is no data with classes.
        """
        return self._held.get(name, lambda: _load(name))


def _load(name: str) -> HeldData:
    there = presence(name)
    if not there.here:
        raise DataError(there.note)
    data = load(name)
    if data.task != "classes":
        raise DataError(f"{name} has no classes to measure on; choose data with classes")
    order = torch.randperm(len(data.test), generator=torch.Generator().manual_seed(0))
    inputs = data.train.x
    if len(inputs) > MOST_INPUTS:
        chosen = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(0))[:MOST_INPUTS]
        inputs = inputs[chosen]
    return HeldData(name, data.fingerprint, data.test.where(order), inputs, data.classes)
