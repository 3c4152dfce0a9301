"""Data that is on this machine, and nothing else: looking at something must never start a download."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import DataError
from .dataset import Dataset
from .registry import DataInfo, catalogue, load


@dataclass(frozen=True)
class Presence:
    """Whether a data set can be loaded without a download; else ``note`` says why not and what to do."""

    name: str
    here: bool
    note: str = ""


def presence(name: str, **options: object) -> Presence:
    """Return whether a data set can be loaded without a download.

    Parameters
    ----------
    name : str
        What it is called. Often a file says so, so it can be any text.
    **options
        As for `load`; they can name another set that it is built on.

    Examples
    --------
    >>> presence("digits")
    Presence(name='digits', here=True, note='')
    >>> presence("my own").note
    "'my own' is no data set that dovetail loads by name"
    """
    try:
        known = {info.name: info for info in catalogue()}
    except DataError as error:  # a folder for data that cannot be looked into
        return Presence(name, False, str(error))
    if name not in known:
        return Presence(name, False, f"{name!r:.100} is no data set that dovetail loads by name")
    missing = _missing_files(known[name], known, options.get("base"))
    if missing is None:
        return Presence(name, True)
    return Presence(
        name,
        False,
        f"the files of {missing} are not on this machine; get them with: dovetail data get {missing}",
    )


def load_here(name: str, **options: object) -> Dataset:
    """Load a data set that is on this machine.

    Parameters
    ----------
    name : str
        What it is called.
    **options
        As for `load`.

    Raises
    ------
    DataError
        When it is not here, with the way out.

    Examples
    --------
    >>> load_here("digits").name
    'digits'
    """
    there = presence(name, **options)
    if not there.here:
        raise DataError(there.note)
    return load(name, None, **options)


def _missing_files(info: DataInfo, known: dict[str, DataInfo], base: object = None) -> str | None:
    """Return the data set whose files are not here, of one and those that it is built on."""
    if info.kind == "files":
        return None if info.found else info.name
    # A base that does not exist is refused by the data set itself, in better words.
    below = known.get(str(base or info.needs))
    return _missing_files(below, known) if below else None
