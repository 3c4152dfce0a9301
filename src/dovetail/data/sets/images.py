"""Images of other sets: loaded to build on, and joined in pairs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...errors import DataError, SpecError
from ..content import Content
from ..dataset import Dataset
from ..registry import LoadBase
from ..split import Split

Variant = Literal["same", "diff"]
Labels = NDArray[np.int64]

_ROWS_AT_A_TIME = 4096


def load_images(
    load_base: LoadBase,
    base: str,
    *,
    divisor: tuple[int, int] = (1, 1),
    least_width: int = 1,
    classes: int = 1,
) -> Dataset:
    """Load a set of one-channel images with class labels, or say why it cannot serve.

    Parameters
    ----------
    load_base : callable
        Loads a data set by name.
    base : str
        Name of the image set.
    divisor : pair of int
        What height and width must be multiples of.
    least_width, classes : int
        How wide the images must be, and how many classes there must be, at least.

    Examples
    --------
    >>> from dovetail.data import load
    >>> load_images(load, "digits", classes=8).input_shape
    (1, 8, 8)
    """
    data = load_base(base)
    if data.task != "classes" or len(data.input_shape) != 3 or data.input_shape[0] != 1:
        needs = "class labels and one-channel images"
    elif any(side % by for side, by in zip(data.input_shape[1:], divisor, strict=True)):
        needs = f"height and width that are multiples of {divisor[0]} and {divisor[1]}"
    elif data.input_shape[2] < least_width:
        needs = f"images at least {least_width} pixels wide"
    elif data.outputs < classes:
        needs = f"at least {classes} classes"
    else:
        return data
    raise SpecError(
        f"base={base!r} is not possible: it has inputs of shape {data.input_shape} and {data.outputs} "
        f"{data.task}, but {needs} are needed; mnist and fashion-mnist always work"
    )


def paired(data: Dataset, variant: Variant, seed: int, join: Callable[[Tensor, Tensor], Tensor]) -> Content:
    """Pair every image of a split with another image of that split."""
    made = []
    for stream, (x, y) in enumerate(data.splits.values()):
        rng = np.random.default_rng((seed, stream))
        groups = y if variant == "same" else torch.zeros_like(y)
        partners = torch.from_numpy(_partners(groups.numpy(), rng))
        labels = y if variant == "same" else (y + y[partners]) % data.outputs
        made.append(Split(join(x, partners), labels))
    return Content(made, data.classes)


def _partners(groups: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the index of another member of its group for every member, each taken once.

    Going round a random circle never pairs an image with itself unless it is alone.
    """
    partners = np.empty_like(groups)
    for group in np.unique(groups):
        circle = rng.permutation(np.flatnonzero(groups == group))
        partners[circle] = np.roll(circle, 1)
    return partners


def side_by_side(data: Dataset, digits: int, pairs: int, seed: int) -> list[tuple[Labels, Labels, Tensor]]:
    """Return left digits, right digits and joined images for each split, in random order."""
    held = pairs // 5
    sizes = (pairs - held, held, held)
    combinations = np.array(list(product(range(digits), repeat=2)))
    made = []
    for stream, (split, each) in enumerate(zip(data.splits.values(), sizes, strict=True)):
        rng = np.random.default_rng((seed, stream))
        left, right = rng.permutation(np.repeat(combinations, each, axis=0)).T
        rows = [_draw(split.y.numpy(), wanted, rng) for wanted in (left, right)]
        made.append((left, right, _join(split.x, *rows)))
    return made


def _draw(labels: Labels, wanted: Labels, rng: np.random.Generator) -> Tensor:
    """Return a random row of the wanted class for each entry."""
    rows = np.empty(len(wanted), dtype=np.int64)
    for digit in np.unique(wanted):
        places = np.flatnonzero(wanted == digit)
        there = np.flatnonzero(labels == digit)
        if not len(there):
            raise DataError(
                f"there are no images of class {digit} in a split of the base; pairs need every class"
            )
        rows[places] = rng.choice(there, size=len(places))
    return torch.from_numpy(rows)


def _join(images: Tensor, left: Tensor, right: Tensor) -> Tensor:
    _, channels, height, width = images.shape
    joined = images.new_empty(len(left), channels, height, 2 * width)
    # A few thousand rows at a time: gathering a side whole would add hundreds of MB to the peak.
    for start in range(0, len(left), _ROWS_AT_A_TIME):
        rows = slice(start, start + _ROWS_AT_A_TIME)
        joined[rows, ..., :width] = images[left[rows]]
        joined[rows, ..., width:] = images[right[rows]]
    return joined
