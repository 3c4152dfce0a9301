"""Numbers: arrays of samples, shifted and scaled by what training samples are like."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import model_validator
from torch import Tensor, nn

from ...errors import DataError
from .base import MOST_FEATURES, Floats, Preparation, Scales, Shape
from .not_samples import refuse_data_set

Scale = Literal["auto", "standard", "unit", "none"]
"""How numbers are scaled; see `Numbers.fitted`."""

_LARGEST = float(np.finfo(np.float32).max)

_AT_ONCE = 2**24
"""Numbers that statistics are taken of at a time: an array may be a file larger than memory."""


class Numbers(Preparation):
    """Arrays of numbers, ``(x - shift) / scale``.

    Attributes
    ----------
    raw_shape : tuple of int
        Shape of a raw sample.
    channels_last : bool
        Whether raw samples are pictures with their channels last, as most programs store them.
    shift, scale : tuple of float
        One number for all, or one for each entry of the first axis: for each feature, or channel of a picture.
    names : tuple of str
        Names of the features, if they have any.

    Examples
    --------
    >>> pictures = np.full((2, 8, 8, 3), 255, dtype=np.uint8)
    >>> unit = Numbers.fitted(pictures)
    >>> unit.input_shape, float(unit(pictures).max())
    ((3, 8, 8), 1.0)
    """

    kind: Literal["numbers"] = "numbers"
    raw_shape: Shape
    channels_last: bool = False
    shift: Floats = (0.0,)
    scale: Scales = (1.0,)
    names: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        first = self.input_shape[0]
        if not {len(self.shift), len(self.scale)} <= {1, first}:
            raise ValueError(f"{len(self.shift)} shifts and {len(self.scale)} scales for {first} features")
        if self.names and (len(self.input_shape) > 1 or len(self.names) != first):
            raise ValueError(f"{len(self.names)} names for samples of shape {self.input_shape}")
        if self.channels_last and len(self.raw_shape) != 3:
            raise ValueError(f"channels of samples of shape {self.raw_shape}")
        return self

    @classmethod
    def fitted(cls, train: object, scale: Scale = "auto", *, names: tuple[str, ...] = ()) -> Self:
        """Return the preparation for samples like these.

        Parameters
        ----------
        train : array
            Training samples ``[samples, ...]``: features, or pictures ``[samples, height, width]``, with channels
            first or last.
        scale : {"auto", "standard", "unit", "none"}
            ``"standard"``: mean 0 and variance 1, for each feature, or for each channel of pictures. ``"unit"``:
            pictures of bytes from 0 to 1. ``"none"``: as they are. By default ``"unit"`` for bytes of two or more
            axes, ``"standard"`` for everything else.
        names : tuple of str
            Names of the features.
        """
        samples = as_array(train)
        shape = samples.shape[1:]
        if math.prod(shape) > MOST_FEATURES:
            raise DataError(f"a sample has {math.prod(shape):,} numbers; {MOST_FEATURES:,} are the most")
        last = len(shape) == 3 and shape[2] in (1, 3, 4) and min(shape[:2]) > 4
        if scale == "auto":
            scale = "unit" if samples.dtype == np.uint8 and len(shape) > 1 else "standard"
        plain = cls(raw_shape=shape, channels_last=last, names=names)
        if scale == "none":
            return plain
        if scale == "unit":
            return plain.model_copy(update={"scale": (255.0,)})
        shift, spread = _moments(plain._arranged(samples))
        return plain.model_copy(update={"shift": shift, "scale": spread})

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one sample as a network sees it: pictures with their channels first."""
        if self.channels_last:
            return (self.raw_shape[2], *self.raw_shape[:2])
        return (1, *self.raw_shape) if len(self.raw_shape) == 2 else self.raw_shape

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, if they have any."""
        return self.names

    def __call__(self, raw: object) -> Tensor:
        """Return raw samples shifted and scaled."""
        samples = as_array(raw)
        if samples.shape[1:] != self.raw_shape:
            given, wanted = (
                " × ".join(map(str, shape)) or "1" for shape in (samples.shape[1:], self.raw_shape)
            )
            raise DataError(f"samples have {given} numbers, and those it was made for {wanted}")
        x = torch.from_numpy(np.ascontiguousarray(self._arranged(samples), dtype=np.float32))
        x = (x - self._along(self.shift)) / self._along(self.scale)
        if len(x) and not all(math.isfinite(extreme) for extreme in x.aminmax()):
            check_finite([samples], self.names)
            raise DataError(
                "numbers are too large for float32 once they are scaled; are these samples like those before?"
            )
        return x

    def describe(self) -> str:
        """Return what is done."""
        if self.scale == (255.0,) and self.shift == (0.0,):
            return "bytes from 0 to 1"
        if self.scale == (1.0,) and self.shift == (0.0,):
            return "numbers as they are"
        each = "each feature" if len(self.input_shape) == 1 else "each channel"
        return f"{each} to mean 0 and variance 1 of the training samples"

    def layer(self) -> nn.Module:
        """Return a layer that does the same with a batch of raw numbers."""
        return _Scaling(self)

    @property
    def layer_shape(self) -> tuple[int, ...]:
        """Shape of a raw sample."""
        return self.raw_shape

    def _arranged(self, samples: NDArray[Any]) -> NDArray[Any]:
        samples = np.moveaxis(samples, 3, 1) if self.channels_last else samples
        return samples.reshape(len(samples), *self.input_shape)

    def _along(self, values: tuple[float, ...]) -> Tensor:
        """Return values as a tensor that goes along the first axis of a sample."""
        return torch.tensor(values, dtype=torch.float32).reshape(-1, *[1] * (len(self.input_shape) - 1))


class _Scaling(nn.Module):
    """What `Numbers` does, as a layer."""

    shift: Tensor
    scale: Tensor

    def __init__(self, numbers: Numbers) -> None:
        super().__init__()
        self._last, self._shape = numbers.channels_last, numbers.input_shape
        self.register_buffer("shift", numbers._along(numbers.shift))
        self.register_buffer("scale", numbers._along(numbers.scale))

    def forward(self, x: Tensor) -> Tensor:
        """Return raw numbers shifted and scaled."""
        x = x.movedim(3, 1) if self._last else x
        return (x.to(self.scale.dtype).reshape(-1, *self._shape) - self.shift) / self.scale


def as_array(samples: object) -> NDArray[Any]:
    """Return samples as an array of numbers ``[samples, ...]``: from numpy, pandas, torch, or lists of numbers.

    Raises
    ------
    DataError
        When they are something else, or no sample at all.

    Examples
    --------
    >>> as_array([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    refuse_data_set(samples)
    if isinstance(samples, Tensor):
        samples = samples.detach().cpu().numpy()
    if hasattr(samples, "tocsr"):
        raise DataError("sparse matrices are not taken; write samples.toarray()")
    try:
        array = np.asarray(samples.to_numpy() if hasattr(samples, "to_numpy") else samples)
    except (TypeError, ValueError) as error:
        raise DataError(f"samples are an array of numbers, not {type(samples).__name__} ({error})") from None
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"samples hold something that is no number ({error}); tables with texts are for Dataset.from_frame"
            ) from None
    if array.dtype.kind not in "buif":
        what = "complex numbers" if array.dtype.kind == "c" else f"numbers of type {array.dtype}"
        raise DataError(f"samples hold {what}; tables with texts are for Dataset.from_frame")
    if array.ndim < 2:
        raise DataError(
            f"samples are rows of numbers, [samples, features]; got an array of shape {array.shape}. A single sample "
            "is samples[None]; samples of one feature are samples[:, None]"
        )
    return array


def _moments(samples: NDArray[Any]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return mean and spread along the first axis of a sample; of what is constant, a spread of 1."""
    axes = tuple(axis for axis in range(samples.ndim) if axis != 1)
    rows = max(1, _AT_ONCE // math.prod(samples.shape[1:]))
    chunks = [samples[start : start + rows] for start in range(0, len(samples), rows)]
    count = samples.size / samples.shape[1]
    mean = np.asarray(sum(chunk.sum(axes, dtype=np.float64) for chunk in chunks)) / count
    middle = mean.reshape(-1, *[1] * (samples.ndim - 2))
    spread = np.sqrt(np.asarray(sum(np.square(chunk - middle).sum(axes) for chunk in chunks)) / count)
    if not (np.isfinite(mean).all() and np.isfinite(spread).all()):
        check_finite([samples])
        raise DataError(
            "numbers are too large to take mean and variance of; scale them first, or write scale='none'"
        )
    # A sum of equal numbers is off by rounding, so a constant has a spread of almost 0.
    spread[spread <= 1e-12 * np.maximum(np.abs(mean), 1e-300)] = 1.0
    return tuple(mean.tolist()), tuple(spread.tolist())


def check_finite(arrays: Sequence[NDArray[Any]], names: Sequence[str] = ()) -> None:
    """Refuse samples that hold what float32 does not, counting all of them and naming the first place.

    Parameters
    ----------
    arrays : sequence of array
        Samples of one split, or of several.
    names : sequence of str
        Names of the features, if they have any.

    Raises
    ------
    DataError
        When there is such a sample.

    Examples
    --------
    >>> check_finite([np.array([[1.0, 2.0], [3.0, np.nan]])], ["width", "height"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dovetail.errors.DataError: 1 of 2 samples hold NaN, ... the first in row 1, column 1 ('height'), counted from 0; ...
    """
    bad = 0
    first: tuple[int, ...] = ()
    begun = 0  # rows of the arrays before
    for array in arrays:
        if array.dtype.kind == "f":
            rows = max(1, _AT_ONCE // max(1, math.prod(array.shape[1:])))
            for start in range(0, len(array), rows):
                some = array[start : start + rows]
                odd = ~(np.isfinite(some) if some.itemsize <= 4 else np.abs(some) <= _LARGEST)
                if odd.any():
                    if not bad:
                        first = tuple(np.argwhere(odd)[0].tolist())
                        first = (first[0] + start + begun, *first[1:])
                    bad += int(odd.reshape(len(odd), -1).any(1).sum())
        begun += len(array)
    if not bad:
        return
    row, *place = first
    column = f"column {place[0]}" if len(place) == 1 else f"place {tuple(place)}"
    called = f" ({names[place[0]]!r:.80})" if len(place) == 1 and names else ""
    raise DataError(
        f"{bad:,} of {sum(map(len, arrays)):,} samples hold NaN, infinity, or numbers too large for float32, the first "
        f"in row {row}, {column}{called}, counted from 0; leave them out, or fill them (Dataset.from_frame fills with "
        "medians)"
    )
