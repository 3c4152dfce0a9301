"""Data of a few drawings: each as it is, and slanted, turned and stretched a little, as the same hand would vary it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy import ndimage
from torch import Tensor

from ...data import Dataset, Split
from ..draw.pad import Ink
from ..draw.preparations import prepared

FEWEST, MOST = 3, 24
"""Drawings of a symbol: fewer say too little of how it may vary, and nobody draws more."""

_VARIATIONS = 120
"""Of all drawings together, at least; and four of each at least."""

_TURN, _SLANT, _STRETCH = 0.2, 0.2, 0.25
"""At most: radians, rows for each column or columns for each row, and a share of either side."""

_VALIDATED = 5
"""Every so manieth variation is for validation: whether training shall go on."""


def drawings_data(inks: Sequence[Ink], name: str, data: str) -> Dataset:
    """Return a data set of one class from drawings of it, as inputs like those of another data set.

    Parameters
    ----------
    inks : sequence of array
        The drawings, as `read_ink` gives them.
    name : str
        What the class is called.
    data : str
        What the inputs shall be like.

    Examples
    --------
    >>> ink = np.zeros((112, 112))
    >>> ink[20:90, 50:58] = 1
    >>> drawings_data([ink] * 3, "bar", "digits")
    Dataset('drawings', 96/24/24, input_shape=(1, 8, 8), outputs=1)
    """
    each = max(4, -(-_VARIATIONS // len(inks)))
    random = np.random.default_rng(0)
    x = torch.cat([prepared(varied, data) for ink in inks for varied in variations(ink, each, random)])
    held = torch.arange(len(x)) % _VALIDATED == _VALIDATED - 1
    train, rest = _of_one_class(x[~held]), _of_one_class(x[held])
    return Dataset("drawings", train, rest, rest, classes=(name,))


def variations(ink: Ink, count: int, random: np.random.Generator) -> list[Ink]:
    """Return a drawing, and others like it, as many as asked for together."""
    found = [ink]
    middle = np.array(ndimage.center_of_mass(ink))
    while len(found) < count:
        turn = random.uniform(-_TURN, _TURN)
        turned = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        slant, stretch = random.uniform(-_SLANT, _SLANT, 2), 1 + random.uniform(-_STRETCH, _STRETCH, 2)
        way = turned @ np.array([[stretch[0], slant[0]], [slant[1], stretch[1]]])
        found.append(ndimage.affine_transform(ink, way, middle - way @ middle, order=1))
    return found


def _of_one_class(x: Tensor) -> Split:
    return Split(x, torch.zeros(len(x), dtype=torch.long))
