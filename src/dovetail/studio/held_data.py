"""The test splits that views measure on: each held once, from what is on this machine, never from the network.

Data of users' own is looked for in what they named when they started the studio, and in its folder; nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from ..data import Dataset, Presence, Split, data_spec, load_here, open_data, presence
from ..data.open_data import is_known
from ..data.split import Task
from ..errors import DataError, DovetailError
from ..specialists.blueprint import Blueprint
from ..specialists.data_for import data_for
from ..specialists.fitting import check_data
from ..specialists.merge import some_of
from ..specialists.part import Part
from .cache import Cache
from .folder import MOST_BYTES, StudioFolder

_MOST_HELD = 2
_MOST_REFUSED = 500

ENDINGS = (".csv", ".tsv", ".parquet", ".npz", ".jsonl", ".json", ".zip")
"""Of files in the studio's folder that are taken for data when a part names them."""


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
    source : str
        What to type on the command line to name it.
    """

    name: str
    fingerprint: str
    task: Task
    classes: tuple[str, ...]
    test: Split
    inputs: Tensor
    source: str

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one sample."""
        return tuple(self.test.x.shape[1:])


class DataCache:
    """The data sets that were used last; safe for threads.

    Parameters
    ----------
    folder : StudioFolder, optional
        Where data of users' own may lie, called as it was in training: ``wine.csv`` or ``photos/``.
    given : sequence of str
        Data that was named when the studio was started, as `dovetail.data.open_data` takes it.

    Examples
    --------
    >>> len(DataCache().get("digits").test)
    360
    """

    def __init__(self, folder: StudioFolder | None = None, given: Sequence[str] = ()) -> None:
        self._folder, self._given = folder, tuple(given)
        self._held = Cache[HeldData](_MOST_HELD)
        self._refused = Cache[str](_MOST_REFUSED)

    def get(self, name: str) -> HeldData:
        """Return a data set by name, loaded when first asked for.

        Raises
        ------
        DataError
            When it is not on this machine.
        """
        if is_known(name):
            return self._held.get(name, lambda: _hold(load_here(name), name))
        for text in self._places(name):
            data = self._opened(text, None, partial(open_data, text))
            if isinstance(data, HeldData) and data.name == name:
                return data
        raise DataError(self._nowhere(name))

    def of_part(self, part: Part) -> HeldData:
        """Return the data to measure a part on, prepared as that of its training was.

        Raises
        ------
        DataError
            When none is on this machine, or none that fits.
        """
        blueprint, name = part.specialists[0].blueprint, part.specialists[0].provenance.data
        own = blueprint.preparation is not None
        refused = ""
        for text in self._places(name) if own else self._given:
            data = self._opened(text, blueprint, partial(data_for, blueprint, text, download=False))
            if isinstance(data, HeldData):
                return data
            refused = refused or data
        if own or not is_known(name):
            raise DataError(refused or self._nowhere(name))
        found = self.get(name)
        check_data(blueprint, found)
        return found

    def presence(self, name: str, blueprint: Blueprint) -> Presence:
        """Return whether there is data to measure parts on, without reading it."""
        if self._given or (blueprint.preparation is not None and any(self._places(name))):
            return Presence(name, True)
        if blueprint.preparation is not None:
            return Presence(name, False, self._nowhere(name))
        return presence(name)

    def _opened(self, text: str, like: Blueprint | None, read: Callable[[], Dataset]) -> HeldData | str:
        """Return data, or why it cannot be used; neither is found out twice while the file stays as it is."""
        alike = like and (like.preparation and like.preparation.digest, like.classes, like.input_shape)
        key = (text, _version(text), alike)
        refused = self._refused.find(key)
        if refused is not None:
            return refused
        try:
            return self._held.get(key, lambda: _hold(read(), text))
        except DovetailError as error:
            why = str(error) if self._folder is None else self._folder.without_root(str(error))
            return self._refused.keep(key, why)

    def _places(self, name: str) -> Iterator[str]:
        """Give texts that may name somebody's own data: those given, then what is called so in the folder."""
        yield from self._given
        if self._folder is None:
            return
        for file in self._folder.find(tuple(f"{name}{ending}" for ending in ("", *ENDINGS))).files:
            path = Path(file.name)
            if name in (path.name, path.stem) and path.suffix in ENDINGS and file.size <= MOST_BYTES:
                yield str(self._folder.resolve(file.name))
        with suppress(DovetailError):  # a name that nothing can have in the folder
            inside = self._folder.resolve(name)
            if inside.is_dir():
                yield str(inside)

    def _nowhere(self, name: str) -> str:
        if not self._given and self._folder is None:
            return presence(name).note
        return (
            f"{name!r:.100} is no data set that dovetail loads by name, and there is no such data in the studio's "
            "folder; start the studio with --data FILE"
        )


def check_given(texts: Sequence[str]) -> None:
    """Refuse data that cannot be opened, while whoever named it still looks at the terminal."""
    for text in texts:
        if is_known(text):
            spec = data_spec(text)
            load_here(spec.name, **spec.options)
        else:
            open_data(text)


def _version(text: str) -> tuple[int, int] | None:
    """Return what changes when a file is written anew."""
    for path in (text, text.partition(":")[0]):
        try:
            status = Path(path).stat()
        except (OSError, ValueError):
            continue
        return status.st_mtime_ns, status.st_size
    return None


def _hold(data: Dataset, source: str) -> HeldData:
    order = torch.randperm(len(data.test), generator=torch.Generator().manual_seed(0))
    return HeldData(
        data.name,
        data.fingerprint,
        data.task,
        data.classes,
        data.test.where(order),
        some_of(data.train.x),
        source,
    )
