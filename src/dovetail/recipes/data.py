"""Data of recipes: how units name it, and how large it is without reading it, for estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..data.dataset import Dataset
    from ..data.split import Split


@dataclass(frozen=True)
class DataSize:
    """What an estimate must know of a data set.

    Attributes
    ----------
    input_shape : tuple of int
        Shape of one sample.
    outputs : int
        Outputs of a network for it.
    samples : int
        Samples of the training and the validation split.
    validation : int
        How many of them are for validation.
    """

    input_shape: tuple[int, ...]
    outputs: int
    samples: int
    validation: int = 0

    @property
    def training(self) -> int:
        """Samples of the training split alone."""
        return self.samples - self.validation


_IMAGES = DataSize((1, 28, 28), 10, 60_000, 12_000)
DATA_SIZES = {
    "mnist": _IMAGES,
    "fashion-mnist": _IMAGES,
    "har": DataSize((265,), 6, 7_352, 1_471),
    "yeast": DataSize((8,), 4, 1_039, 208),
    "digits": DataSize((1, 8, 8), 10, 1_437, 288),
    "mnist-7x7": DataSize((1, 7, 7), 10, 60_000),
    "cifar10": DataSize((3, 32, 32), 10, 50_000, 10_000),
    "clinc150": DataSize((512,), 150, 18_000, 3_000),
    "polynomials": DataSize((2,), 512, 60_000),
}
"""HAR by its 265 time-domain features and all six classes; the MaxEnt paper has 561 features."""

_ADDED: dict[str, Callable[[int], int]] = {
    "polynomials": lambda samples: 10_000,
    "random": lambda samples: max(1_000, samples // 6),
}
"""Sets that make samples for validation beside those asked for; the others take them out of these."""


def data_size(text: str) -> DataSize:
    """Return the size of the data set that a text stands for; images like MNIST's where nothing else is known.

    Examples
    --------
    >>> data_size("stack:base=digits,variant=diff").input_shape
    (2, 8, 8)
    """
    from ..data import data_spec  # here, as the list of recipes need not wait for torch

    spec = data_spec(text)
    name, options = spec.name, spec.options
    size = DATA_SIZES.get(name) or DATA_SIZES.get(str(options.get("base")), _IMAGES)
    if name == "stack":
        size = replace(size, input_shape=(2, *size.input_shape[1:]))
    samples = options.get("train_samples", options.get("samples", size.samples))
    assert isinstance(samples, int)
    if name == "mixture" and options.get("size") == "both" and options.get("kind") != "separate":
        samples *= 2
    if name in _ADDED:
        samples += _ADDED[name](samples)
    return replace(size, samples=samples)


def load_named(settings: Mapping[str, Any]) -> Dataset:
    """Return the data set of a name with options; the last two are kept, as units that follow share them."""
    return _load(settings["name"], tuple(sorted(settings["options"].items())))


@lru_cache(maxsize=2)
def _load(name: str, options: tuple[tuple[str, Any], ...]) -> Dataset:
    from ..data import load

    return load(name, **dict(options))


def first_samples(data: Dataset, samples: int | None) -> Dataset:
    """Return the data with a number of training samples, counting those for validation, which train too.

    Examples
    --------
    >>> import dovetail as dt
    >>> first_samples(dt.load("digits"), 500)
    Dataset('digits', 400/100/360, input_shape=(1, 8, 8), outputs=10)
    """
    whole = len(data.train) + len(data.val)
    if samples is None or samples >= whole:
        return data
    kept = max(1, round(samples * len(data.val) / whole))
    return replace(data, train=_first(data.train, samples - kept), val=_first(data.val, kept))


def _first(split: Split, samples: int) -> Split:
    return type(split)(split.x[:samples], split.y[:samples])
