"""Drawings as images of `digits`: what NIST's programs and the makers of the data set did to theirs.

A digit was scaled to fill 20 × 32 pixels, whatever its own proportions, its strokes were made thicker or thinner by
how much ink there was, and it was sheared until its left edge stood upright. Of that, the ink in blocks of 4 × 4 pixels
was counted. Without these steps a composite that reads its test images well fails on most drawings.

References
----------
M. D. Garris et al., "NIST Form-Based Handprint Recognition System", NISTIR 5469, 1994.
E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from .pad import Ink, box_around, is_inked
from .resampling import resampled

Bits = NDArray[np.bool_]

_SIDE, _WIDTH, _BLOCK = 32, 20, 4
_MOST_STRETCH = 2.2
"""How much more a digit is stretched one way than the other. NIST had no limit, but no hand draws a line as straight as
a mouse does: filled to 20 pixels, an upright 1 would be a block. Handwritten digits hardly ever come near it."""
_MUCH, _TOO_MUCH, _LITTLE, _TOO_LITTLE = 412, 560, 256, 108
"""Pixels of ink from which on strokes are thinned once and twice, and below which they are thickened so."""
_EDGE = 2
"""Rows at the top and the bottom that say little about the slant."""


def as_digits(ink: Ink) -> Ink:
    """Return a drawing as an image of `digits`: 8 × 8 values from 0 to 1, in sixteenths.

    Examples
    --------
    >>> ink = np.zeros((112, 112))
    >>> ink[20:90, 50:58] = 1
    >>> (as_digits(ink)[0] * 16).astype(int).tolist()
    [0, 0, 0, 16, 16, 0, 0, 0]
    """
    bits = _upright(_even_strokes(_filling(ink)))
    blocks = _SIDE // _BLOCK
    counts: Ink = bits.reshape(blocks, _BLOCK, blocks, _BLOCK).mean((1, 3))
    return counts


def _filling(ink: Ink) -> Bits:
    """Return the drawing scaled to the whole height and the usual width."""
    box = box_around(is_inked(ink))
    down, across = _SIDE / box.height, _WIDTH / box.width
    scale = min(down, _MOST_STRETCH * across), min(across, _MOST_STRETCH * down)
    return is_inked(resampled(is_inked(ink).astype(float), _SIDE, box.centre, scale))


def _even_strokes(bits: Bits) -> Bits:
    amount = int(bits.sum())
    if amount > _MUCH:
        return ndimage.binary_erosion(bits, iterations=2 if amount > _TOO_MUCH else 1)
    if amount < _LITTLE:
        return ndimage.binary_dilation(bits, iterations=2 if amount < _TOO_LITTLE else 1)
    return bits


def _upright(bits: Bits) -> Bits:
    """Shift rows sideways, in proportion to their height, until the first ink near both ends is in one column."""
    rows = np.flatnonzero(bits.any(1))
    if len(rows) < 2 * _EDGE + 2:
        return bits
    top, bottom = int(rows[0]) + _EDGE, int(rows[-1]) - _EDGE
    if not bits[top].any() or not bits[bottom].any():
        return bits
    slant = (int(bits[top].argmax()) - int(bits[bottom].argmax())) / (bottom - top)
    shift = np.rint((np.arange(_SIDE) - _SIDE // 2) * slant).astype(int)
    source = np.arange(_SIDE) - shift[:, None]
    inside = (source >= 0) & (source < _SIDE)
    sheared: Bits = np.take_along_axis(bits, source.clip(0, _SIDE - 1), 1) & inside
    return sheared
