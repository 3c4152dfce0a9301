"""A column of a table: what it holds, and how it becomes features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Annotated, Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from ...errors import DataError
from .values import LARGEST, days, distinct, numbers, row_name, spelled, truths

MOST_LEVELS = 50
"""The levels of a column that get a feature each; rarer ones are told from these, not from each other."""

MOST_CHARACTERS = 200
"""Of a level or the name of a column: files of parts hold them."""

Floats = NDArray[np.float64]
Features = NDArray[np.float32]


def _usable(value: float) -> float:
    if not abs(value) < LARGEST:  # NaN fails too
        raise ValueError("a number that is NaN or too large")
    return value


Name = Annotated[str, Field(max_length=MOST_CHARACTERS)]
_Number = Annotated[float, AfterValidator(_usable)]
_Scale = Annotated[float, Field(gt=0), AfterValidator(_usable)]
_Blanks = Annotated[tuple[Name, ...], Field(max_length=MOST_LEVELS)]


class _Column(BaseModel, ABC):
    """What all columns have: a name and features."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name

    @property
    def features(self) -> tuple[str, ...]:
        """What its features are called."""
        return (self.name,)

    @abstractmethod
    def write(self, column: pd.Series[Any], out: Features) -> None:
        """Write the features of raw values into columns of zeros, ``[rows, features]``."""


class _Measured(_Column):
    """What is on a scale: ``(value - shift) / scale``."""

    fill: _Number
    shift: _Number
    scale: _Scale
    blanks: _Blanks = ()

    @classmethod
    def fitted(cls, name: str, values: Floats, blanks: tuple[str, ...] = ()) -> Self | Unused:
        """Return the column for training values such as these, NaN where they are missing."""
        missing = np.isnan(values)
        if missing.all():
            return Unused(name=name, why="all values are missing")
        fill = float(np.median(values[~missing]))
        filled = np.where(missing, fill, values)
        shift, scale = float(filled.mean()), float(filled.std())
        # A sum of equal numbers is off by rounding, so a constant has a spread of almost 0.
        if not scale > 1e-12 * abs(shift):
            return Unused(name=name, why=CONSTANT)
        return cls(name=name, fill=fill, shift=shift, scale=scale, blanks=blanks)

    @staticmethod
    @abstractmethod
    def read(column: pd.Series[Any], blanks: tuple[str, ...]) -> Floats:
        """Return raw values as numbers, NaN where they are missing."""

    def write(self, column: pd.Series[Any], out: Features) -> None:
        """Write the values, those that are missing as the median of the training rows."""
        values = self.read(column, self.blanks)
        missing = np.isnan(values)
        if missing.any():
            values = np.where(missing, self.fill, values)
        with np.errstate(over="ignore"):
            scaled = (values - self.shift) / self.scale
        if len(scaled) and not max(scaled.max(), -scaled.min()) < LARGEST:
            place = int(np.abs(scaled).argmax())
            raise DataError(
                f"{row_name(column, place)}: column {self.name!r:.80} holds {values[place]:.3g}, which is too large "
                f"where training rows are about {self.shift:.3g}, by {self.scale:.3g} more or less"
            )
        out[:, 0] = scaled


class Number(_Measured):
    """Numbers, shifted and scaled to mean 0 and variance 1 in training rows; missing ones are the median.

    Attributes
    ----------
    fill : float
        The median, which stands for what is missing.
    shift, scale : float
        Mean and spread.
    blanks : tuple of str
        Texts that were found among the numbers, and stand for a missing one, as "NA" and its like always do.
    """

    kind: Literal["number"] = "number"

    @staticmethod
    def read(column: pd.Series[Any], blanks: tuple[str, ...]) -> Floats:
        """Return raw values as numbers."""
        return numbers(column, blanks)


class Date(_Measured):
    """Dates as days since 1970, in everything else like `Number`."""

    kind: Literal["date"] = "date"

    @staticmethod
    def read(column: pd.Series[Any], blanks: tuple[str, ...]) -> Floats:
        """Return raw dates as days."""
        return days(column, blanks)


class Truth(_Column):
    """Truth values as 0 and 1; missing ones are what most training rows have."""

    kind: Literal["truth"] = "truth"
    fill: Literal[0, 1]

    @classmethod
    def fitted(cls, name: str, values: Floats) -> Self | Unused:
        """Return the column for training values such as these, NaN where they are missing."""
        present = values[~np.isnan(values)]
        if not len(present):
            return Unused(name=name, why="all values are missing")
        if present.min() == present.max():
            return Unused(name=name, why=CONSTANT)
        return cls(name=name, fill=1 if present.mean() > 0.5 else 0)

    def write(self, column: pd.Series[Any], out: Features) -> None:
        """Write 0 and 1."""
        values = truths(column)
        out[:, 0] = np.where(np.isnan(values), self.fill, values)


class Levels(_Column):
    """Texts or categories: a feature for each that is frequent in training rows, 1 where it is the value.

    Attributes
    ----------
    levels : tuple of str
        The most frequent ones, most frequent first.
    other : bool
        Whether there is a feature for all others; it has those that are new, too. Without, new ones are all zeros.
    missing : bool
        Whether there is a feature for missing values. Without, they are all zeros.
    """

    kind: Literal["levels"] = "levels"
    levels: Annotated[tuple[Name, ...], Field(min_length=1, max_length=MOST_LEVELS)]
    other: bool = False
    missing: bool = False

    @model_validator(mode="after")
    def _once(self) -> Self:
        if len(set(self.levels)) < len(self.levels):
            raise ValueError(f"a level of {self.name!r:.80} is there twice")
        return self

    @classmethod
    def fitted(cls, name: str, column: pd.Series[Any]) -> Self | Unused:
        """Return the column for training values such as these."""
        codes, values = distinct(column)
        counts: dict[str, int] = {}
        for value, count in zip(values, np.bincount(codes[codes >= 0], minlength=len(values)), strict=True):
            counts[spelled(value)] = counts.get(spelled(value), 0) + int(count)
        counts.pop("", None)
        present = sum(counts.values())
        missing = present < len(column)
        if not counts:
            return Unused(name=name, why="all values are missing")
        if len(counts) == 1 and not missing:
            return Unused(name=name, why=CONSTANT)
        if max(map(len, counts)) > MOST_CHARACTERS or is_prose(counts, present):
            return Unused(name=name, why=PROSE)
        if len(counts) > 0.9 * present and present > _FEW:
            return Unused(name=name, why="nearly every row has a value of its own")
        by_count = sorted(counts, key=lambda level: (-counts[level], level))
        levels = tuple(by_count[:MOST_LEVELS])
        return cls(name=name, levels=levels, other=len(by_count) > MOST_LEVELS, missing=missing)

    @property
    def features(self) -> tuple[str, ...]:
        """One for each level, and for others and missing values if there were any."""
        more = [what for what, there in (("other", self.other), ("missing", self.missing)) if there]
        return (
            *(f"{self.name}={level}" for level in self.levels),
            *(f"{self.name} ({what})" for what in more),
        )

    def write(self, column: pd.Series[Any], out: Features) -> None:
        """Write 1 in the place of the level."""
        codes, values = distinct(column)
        nowhere, count = -1, len(self.levels)
        other = count if self.other else nowhere
        missing = count + self.other if self.missing else nowhere
        known = {"": missing} | {level: place for place, level in enumerate(self.levels)}
        places = np.array([*(known.get(spelled(value), other) for value in values), missing])[codes]
        rows = np.flatnonzero(places != nowhere)
        out[rows, places[rows]] = 1.0


class Unused(_Column):
    """A column that is left out, and why."""

    kind: Literal["unused"] = "unused"
    why: Annotated[str, Field(max_length=MOST_CHARACTERS)]

    @property
    def features(self) -> tuple[str, ...]:
        """None."""
        return ()

    def write(self, column: pd.Series[Any], out: Features) -> None:
        """Write nothing."""


Column = Annotated[Number | Date | Truth | Levels | Unused, Field(discriminator="kind")]
"""One of the kinds, told apart by their field ``kind``."""

CONSTANT = "the value is always the same"
PROSE = "texts are read only where they are the only column beside the classes"
"""Why columns of sentences are left out."""

_FEW = 10
"""Rows that may all differ by chance."""


def is_prose(texts: Collection[str], rows: int) -> bool:
    """Return whether different texts of a column, found in so many rows, are sentences rather than levels.

    Examples
    --------
    >>> is_prose(["turn the light on", "what time is it"], 2), is_prose(["light green", "red"], 2)
    (True, False)
    """
    return 2 * len(texts) > rows and sum(len(text.split()) for text in texts) >= 3 * len(texts)
