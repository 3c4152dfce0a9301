"""The data that the recipes of this paper use: how each set is loaded, and how large it is, without reading it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...data.dataset import Dataset


@dataclass(frozen=True)
class DataSet:
    """A data set as a unit names it, and its size.

    Attributes
    ----------
    input_shape : tuple of int
        Shape of one sample.
    classes : int
        How many classes there are.
    samples : int
        Samples in the training split.
    options : mapping
        What it is loaded with.
    """

    input_shape: tuple[int, ...]
    classes: int
    samples: int
    options: Mapping[str, Any] = field(default_factory=dict)


DATA_SETS = {
    "mnist": DataSet((1, 28, 28), 10, 48_000),
    "fashion-mnist": DataSet((1, 28, 28), 10, 48_000),
    "har": DataSet((265,), 6, 5_881, {"features": "time"}),
    "yeast": DataSet((8,), 4, 831),
    "digits": DataSet((1, 8, 8), 10, 1_149),
}
"""HAR by its 265 time-domain features and all six classes; the paper has 561 features."""


def data_settings(name: str) -> dict[str, Any]:
    """Return what a unit's settings say about its data.

    Examples
    --------
    >>> data_settings("har")
    {'name': 'har', 'options': {'features': 'time'}}
    """
    return {"name": name, "options": dict(DATA_SETS[name].options)}


def load_data(settings: Mapping[str, Any]) -> Dataset:
    """Return the data set that `data_settings` names; the last two are kept, as units that follow share them."""
    return _load(settings["name"], tuple(sorted(settings["options"].items())))


@lru_cache(maxsize=2)
def _load(name: str, options: tuple[tuple[str, Any], ...]) -> Dataset:
    from ...data import load

    return load(name, **dict(options))
