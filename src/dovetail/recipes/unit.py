"""A unit: the smallest piece of a recipe that is done whole, kept, and never done again."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from .._version import __version__
from ..io.provenance import commit
from .works import find_work, version_of

Settings = Mapping[str, Any]
"""What a unit does, as values that JSON can hold."""

Row = dict[str, Any]
"""What came out of a unit, as values that JSON can hold."""


@dataclass(frozen=True, eq=False)
class Unit:
    """A piece of work, and everything that defines its result.

    Two units with the same work and settings are the same unit, in whichever recipe they stand.

    Attributes
    ----------
    work : str
        What to do: a name in `works`.
    settings : mapping
        With what: data, network, seeds, what to measure. Not where: a unit gives the same on any device, up to
        rounding.
    before : mapping, optional
        The settings that the unit had until lately, where those were put right: results with them are shown, marked as
        older, until it is done as it should be.

    Examples
    --------
    >>> one = Unit("maxent/specialists", {"data": "digits", "net": "mlp:64"})
    >>> one.key == Unit("maxent/specialists", {"net": "mlp:64", "data": "digits"}).key
    True
    """

    work: str
    settings: Settings
    before: Settings | None = None

    @cached_property
    def key(self) -> str:
        """The hash of all that defines the result, the version of the work among it."""
        return self._key(version_of(self.work), self.settings)

    @cached_property
    def older_keys(self) -> list[str]:
        """The keys that the unit had under older versions of its work and with older settings, the newest first."""
        now = version_of(self.work)
        older = [self._key(version, self.settings) for version in range(now - 1, 0, -1)]
        if self.before is None:
            return older
        return older + [self._key(version, self.before) for version in range(now, 0, -1)]

    def _key(self, version: int, settings: Settings) -> str:
        text = canonical([self.work, version, settings])
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @property
    def label(self) -> str:
        """What tells it from others, in a few words."""
        return find_work(self.work).label(self.settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unit) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True)
class Finished:
    """A unit that is done.

    Attributes
    ----------
    unit : Unit
        What was done.
    row : dict
        What came out.
    seconds : float
        How long it took.
    device : str
        What it ran on, such as ``"NVIDIA H200"``.
    version : str
        Of Dovetail, when it was done.
    commit : str
        The code that did it, as far as is known: a commit, or the version again; see `commit`.
    is_older : bool
        Whether it is the result of an older version of the work.
    """

    unit: Unit
    row: Row
    seconds: float
    device: str
    version: str = __version__
    commit: str = field(default_factory=commit)
    is_older: bool = False


def finished_units(units: Iterable[Unit], by_key: Mapping[str, Finished]) -> list[Finished]:
    """Return those of some units that are finished, each once: by its version of now, or else by the newest there is.

    Parameters
    ----------
    units : iterable of Unit
        What is looked for.
    by_key : mapping
        Finished units by the keys that they were kept under.
    """
    found = []
    for unit in dict.fromkeys(units):
        if unit.key in by_key:
            found.append(by_key[unit.key])
        elif older := next((key for key in unit.older_keys if key in by_key), None):
            # As this unit's, which is what tables look for: with settings of before it has another key.
            found.append(replace(by_key[older], unit=unit, is_older=True))
    return found


def canonical(value: object) -> str:
    """Return the one JSON text of a value.

    Examples
    --------
    >>> canonical({"b": (1, 2), "a": None})
    '{"a":null,"b":[1,2]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def plain_numbers(values: Iterable[float | None]) -> list[float | None]:
    """Return numbers as rows hold them: six digits after the point, None for what is not there or not finite.

    Examples
    --------
    >>> plain_numbers([1 / 3, None, math.inf])
    [0.333333, None, None]
    """
    return [None if value is None or not math.isfinite(value) else round(float(value), 6) for value in values]
