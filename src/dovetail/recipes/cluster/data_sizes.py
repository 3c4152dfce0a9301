"""How large data sets are, without reading them: for estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...data import data_spec


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
        Samples that train: the training and the validation split.
    """

    input_shape: tuple[int, ...]
    outputs: int
    samples: int


_IMAGES = DataSize((1, 28, 28), 10, 60_000)
_SIZES = {
    "digits": DataSize((1, 8, 8), 10, 1_437),
    "mnist-7x7": DataSize((1, 7, 7), 10, 60_000),
    "cifar10": DataSize((3, 32, 32), 10, 50_000),
    "polynomials": DataSize((2,), 512, 60_000),
}

_VALIDATION: dict[str, Callable[[int], int]] = {
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
    spec = data_spec(text)
    name, options = spec.name, spec.options
    size = _SIZES.get(name) or _SIZES.get(str(options.get("base")), _IMAGES)
    if name == "stack":
        size = replace(size, input_shape=(2, *size.input_shape[1:]))
    samples = options.get("train_samples", options.get("samples", size.samples))
    assert isinstance(samples, int)
    if name in _VALIDATION:
        samples += _VALIDATION[name](samples)
    return replace(size, samples=samples)
