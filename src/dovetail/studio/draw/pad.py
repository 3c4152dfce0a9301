"""A drawing as it comes from the page: a square of grey values, 0 where the pad is empty and 1 where there is ink."""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError

Ink = NDArray[np.float64]

SIDE = 112
"""Pixels along a side of the pad: four for each of MNIST's, so that strokes keep their form."""


class Box(NamedTuple):
    """The smallest box around some pixels; the ends are not in it."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def height(self) -> int:
        """Its rows."""
        return self.bottom - self.top

    @property
    def width(self) -> int:
        """Its columns."""
        return self.right - self.left

    @property
    def centre(self) -> tuple[float, float]:
        """The place of its middle, as row and column."""
        return (self.top + self.bottom) / 2, (self.left + self.right) / 2


def read_ink(text: str) -> Ink:
    """Return a drawing from the bytes of its pixels, row by row, in base64.

    Raises
    ------
    DataError
        When the text is no such drawing, or the pad is empty.

    Examples
    --------
    >>> pixels = bytearray(SIDE * SIDE)
    >>> pixels[:3] = 255, 255, 255
    >>> read_ink(base64.b64encode(pixels).decode())[0, :4].tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    try:
        pixels = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise DataError(
            f"a drawing is sent as base64, and {text!r:.40} is not; load the page again"
        ) from None
    if len(pixels) != SIDE * SIDE:
        raise DataError(f"a drawing has {SIDE} × {SIDE} pixels, not {len(pixels):,}; load the page again")
    ink = np.frombuffer(pixels, np.uint8).reshape(SIDE, SIDE) / 255
    if not is_inked(ink).any():
        raise DataError("there is nothing on the pad; draw something")
    return ink


def is_inked(ink: Ink) -> NDArray[np.bool_]:
    """Return which pixels are more ink than not."""
    return ink >= 0.5


def box_around(inked: NDArray[np.bool_]) -> Box:
    """Return the smallest box around all pixels that are set; there must be one.

    Examples
    --------
    >>> inked = np.zeros((5, 5), dtype=bool)
    >>> inked[1, 2] = inked[3, 2] = True
    >>> box_around(inked)
    Box(top=1, bottom=4, left=2, right=3)
    """
    rows, columns = (np.flatnonzero(inked.any(axis)) for axis in (1, 0))
    return Box(int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1)
