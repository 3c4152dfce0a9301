"""A preparation: what turns raw samples into the numbers that a network sees, with all it learnt from training data."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from torch import Tensor, nn

MOST_FEATURES = 100_000
"""Of one sample: what a table, picture or list of words may come to."""


def _finite(values: tuple[float, ...]) -> tuple[float, ...]:
    if not all(abs(value) < 3e38 for value in values):  # NaN fails too; weights and inputs are float32
        raise ValueError("numbers that are NaN or too large")
    return values


def _no_zero(values: tuple[float, ...]) -> tuple[float, ...]:
    if not all(values):
        raise ValueError("a scale of 0")
    return values


Shape = Annotated[
    tuple[Annotated[int, Field(ge=1, le=MOST_FEATURES)], ...], Field(min_length=1, max_length=4)
]
Floats = Annotated[tuple[float, ...], Field(max_length=MOST_FEATURES), AfterValidator(_finite)]
Scales = Annotated[Floats, AfterValidator(_no_zero)]


class Preparation(BaseModel, ABC):
    """What was done to raw samples, and is done again to new ones before a network sees them.

    A data set that was read from files or arrays of a user's has one, and so has every part that was trained on it: its
    file holds it, as JSON. Everything in it came from training samples alone. Preparations with equal fields are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from dovetail.data.preparation import Numbers
    >>> scaling = Numbers.fitted(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> scaling(np.array([[5.0, 6.0]]))
    tensor([[3., 1.]])
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str

    @property
    @abstractmethod
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one sample as a network sees it."""

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """What each number of a sample stands for; empty where they have no names, as in pictures."""

    @property
    def reads(self) -> Preparation | None:
        """What raw samples are like; None where they are the numbers that a known data set holds."""
        return self

    @abstractmethod
    def __call__(self, raw: object) -> Tensor:
        """Return raw samples as a network sees them, float32 ``[samples, *input_shape]``.

        Raises
        ------
        DataError
            For samples that are not like those it was made for, naming what differs.
        """

    @abstractmethod
    def describe(self) -> str:
        """Return what is done, in a line or a few."""

    def layer(self) -> nn.Module | None:
        """Return a layer that does the same with a batch of raw numbers; None where raw samples are no tensors."""
        return None

    @property
    def layer_shape(self) -> tuple[int, ...] | None:
        """Shape of a sample as `layer` takes it; None without one."""
        return None

    @cached_property
    def digest(self) -> str:
        """Hash of all of it."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]
