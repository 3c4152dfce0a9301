"""Two digits side by side: tell both, or compute with them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ..errors import DataError
from .bases import load_images
from .dataset import Dataset, Split
from .options import ImageSet, Pairs, Seed
from .registry import Content, register

Labels = NDArray[np.int64]

_BITS = 3
_ROWS_AT_A_TIME = 4096


@register("two-digits", kind="generated")
def two_digits(
    root: str | Path | None, *, base: ImageSet = "mnist", pairs: Pairs = 1_000, seed: Seed = 0
) -> Content:
    """Two digits side by side and which they are: 20 bits, one for each digit on either side.

    ``pairs`` counts the training and validation pairs (8:2) of each ordered combination of digits; the test
    split has as many pairs as the validation split. No image of the base is in two splits.
    """
    data = load_images(base, root)
    made = []
    for left, right, images in _pair_up(data, data.outputs, pairs, seed):
        y = torch.cat([F.one_hot(torch.from_numpy(side), data.outputs) for side in (left, right)], dim=1)
        made.append(Split(images, y.to(torch.float32)))
    outputs = tuple(f"{side} {name}" for side in ("left", "right") for name in data.classes)
    return Content(made, outputs, task="bits")


@register("digit-xor", kind="generated")
def digit_xor(
    root: str | Path | None, *, base: ImageSet = "mnist", pairs: Pairs = 1_000, seed: Seed = 0
) -> Content:
    """Two digits from 0 to 7 side by side and the three bits of their exclusive or, highest first.

    Pairs and splits are as in ``two-digits``.
    """
    weights = [1 << power for power in reversed(range(_BITS))]
    data = load_images(base, root, classes=1 << _BITS)
    made = []
    for left, right, images in _pair_up(data, 1 << _BITS, pairs, seed):
        bits = ((left ^ right)[:, None] & np.array(weights)) > 0
        made.append(Split(images, torch.from_numpy(bits).to(torch.float32)))
    return Content(made, tuple(f"bit {weight}" for weight in weights), task="bits")


def _pair_up(data: Dataset, digits: int, pairs: int, seed: int) -> list[tuple[Labels, Labels, Tensor]]:
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
