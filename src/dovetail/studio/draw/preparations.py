"""Drawings made into inputs like a data set's own images: `digits`, MNIST, Fashion-MNIST.

Each way does to a drawing what the makers of that data did to theirs; without it, a composite that reads its test
images well fails on most drawings.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage
from torch import Tensor

from ...errors import SpecError
from .pad import Ink, box_around, is_inked

Bits = NDArray[np.bool_]

_DIGIT_SIDE, _DIGIT_WIDTH, _BLOCK = 32, 20, 4

_MOST_STRETCH = 1.6
"""How much more a digit is stretched one way than the other. NIST had no limit, but no hand draws a line as straight as
a mouse does: filled to 20 pixels, an upright 1 would be a block, and one with a flag another digit."""

_MUCH, _TOO_MUCH, _LITTLE, _TOO_LITTLE = 412, 560, 256, 108
"""Pixels of ink from which on strokes are thinned once and twice, and below which they are thickened so."""

_EDGE = 2
"""Rows at the top and the bottom that say little about the slant."""


def as_digits(ink: Ink) -> Ink:
    """Return a drawing as an image of `digits`: 8 × 8 values from 0 to 1, in sixteenths.

    A digit was scaled to fill 20 × 32 pixels, whatever its own proportions, its strokes were made thicker or thinner by
    how much ink there was, and it was sheared until its left edge stood upright. Of that, the ink in blocks of 4 × 4
    pixels was counted.

    References
    ----------
    M. D. Garris et al., "NIST Form-Based Handprint Recognition System", NISTIR 5469, 1994.
    E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998.

    Examples
    --------
    >>> ink = np.zeros((112, 112))
    >>> ink[20:90, 50:58] = 1
    >>> (as_digits(ink)[0] * 16).astype(int).tolist()
    [0, 0, 0, 16, 16, 0, 0, 0]
    """
    bits = _upright(_even_strokes(_filling(ink)))
    blocks = _DIGIT_SIDE // _BLOCK
    counts: Ink = bits.reshape(blocks, _BLOCK, blocks, _BLOCK).mean((1, 3))
    return counts


def _filling(ink: Ink) -> Bits:
    """Return the drawing scaled to the whole height and the usual width."""
    box = box_around(is_inked(ink))
    down, across = _DIGIT_SIDE / box.height, _DIGIT_WIDTH / box.width
    scale = min(down, _MOST_STRETCH * across), min(across, _MOST_STRETCH * down)
    return is_inked(resampled(is_inked(ink).astype(float), _DIGIT_SIDE, box.centre, scale))


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
    shift = np.rint((np.arange(_DIGIT_SIDE) - _DIGIT_SIDE // 2) * slant).astype(int)
    source = np.arange(_DIGIT_SIDE) - shift[:, None]
    inside = (source >= 0) & (source < _DIGIT_SIDE)
    sheared: Bits = np.take_along_axis(bits, source.clip(0, _DIGIT_SIDE - 1), 1) & inside
    return sheared


_SIDE, _BOX = 28, 20

_CENTRE = 14.5
"""Where the centre of mass of MNIST's images is: in the middle of pixel 14, counted from 0."""

_THICKEST = 3.5
"""Pixels of the box that a stroke may be thick. A small drawing is blown up with its strokes, and pens do not do that:
four of five strokes in MNIST are thinner."""


def as_mnist(ink: Ink) -> Ink:
    """Return a drawing as an image of MNIST: scaled into a box of 20 × 20 pixels, centred by its mass in 28 × 28.

    References
    ----------
    Y. LeCun, C. Cortes and C. J. C. Burges, "The MNIST database of handwritten digits", 1998.

    Examples
    --------
    >>> ink = np.zeros((112, 112))
    >>> ink[20:100, 50:60] = 1
    >>> image = as_mnist(ink)
    >>> rows = np.flatnonzero(image.any(1))
    >>> image.shape, int(rows[-1] - rows[0])
    ((28, 28), 20)
    """
    thin = _thinned(ink)
    box = box_around(is_inked(thin))
    scale = _BOX / max(box.height, box.width)
    middle = ndimage.center_of_mass(thin)
    centre = float(middle[0]) + 0.5, float(middle[1]) + 0.5
    return resampled(thin, _SIDE, centre, (scale, scale), to=_CENTRE)


def _thinned(ink: Ink) -> Ink:
    """Return the drawing with strokes of at most the usual thickness."""
    inked = is_inked(ink)
    depth = ndimage.distance_transform_edt(inked)
    box = box_around(inked)
    scale = _BOX / max(box.height, box.width)
    # Across a stroke, the distance to its edge rises to half its thickness and falls again: on average, a quarter.
    excess = 4 * float(depth[inked].mean()) - _THICKEST / scale
    if excess <= 0:
        return ink
    # A stroke is never thinned away.
    thin: Ink = np.clip(depth - min(excess / 2, float(depth.max()) - 1), 0, 1)
    return thin


def as_fashion(ink: Ink) -> Ink:
    """Return a drawing as an image of Fashion-MNIST: the longer side fills all 28 pixels, the middle in the middle.

    Its images are photographs of clothes, so what an outline encloses is filled.

    References
    ----------
    H. Xiao, K. Rasul and R. Vollgraf, "Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning
    Algorithms", 2017.

    Examples
    --------
    >>> ink = np.zeros((112, 112))
    >>> ink[20:90, 30:32] = ink[20:90, 80:82] = ink[20:22, 30:82] = ink[88:90, 30:82] = 1
    >>> float(as_fashion(ink)[14, 14])
    1.0
    """
    inked = is_inked(ink)
    filled = np.where(ndimage.binary_fill_holes(inked) & ~inked, 1.0, ink)
    box = box_around(inked)
    scale = _SIDE / max(box.height, box.width)
    return resampled(filled, _SIDE, box.centre, (scale, scale))


Prepare = Callable[[Ink], Ink]

PREPARATIONS: dict[str, Prepare] = {"digits": as_digits, "mnist": as_mnist, "fashion-mnist": as_fashion}
"""By name of the data. Each gives one channel with values from 0 to 1, as the loader of that data does."""


def can_draw(data: str) -> bool:
    """Whether there is a way from a drawing to an input like those of a data set."""
    return data in PREPARATIONS


def prepared(ink: Ink, data: str) -> Tensor:
    """Return a drawing as an input of a data set, ``[1, channels, height, width]``.

    Raises
    ------
    SpecError
        For data that one cannot draw.

    Examples
    --------
    >>> import numpy as np
    >>> prepared(np.ones((112, 112)), "digits").shape
    torch.Size([1, 1, 8, 8])
    """
    if data not in PREPARATIONS:
        known = ", ".join(PREPARATIONS)
        raise SpecError(
            f"inputs of {data!r:.80} cannot be drawn; go through its test images, or use specialists of {known}"
        )
    return torch.from_numpy(PREPARATIONS[data](ink)).to(torch.float32)[None, None]


def resampled(
    ink: Ink, side: int, centre: tuple[float, float], scale: tuple[float, float], to: float | None = None
) -> Ink:
    """Return a square image with a place of another in its middle, scaled by rows and by columns.

    Parameters
    ----------
    ink : array
        The image; around it there is nothing.
    side : int
        Pixels along each side of the result.
    centre, scale : pair of float
        The place, as row and column from the upper left corner, and new pixels for each old one.
    to : float, optional
        Where that place goes, from the upper left corner along both axes; the middle, unless given.

    Examples
    --------
    >>> resampled(np.eye(4), 2, (2, 2), (0.5, 0.5))
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    target = side / 2 if to is None else to
    rows, columns = (
        _coverage(np.arange(side + 1), size, place, factor, target)
        for size, place, factor in zip(ink.shape, centre, scale, strict=True)
    )
    made: Ink = rows @ ink @ columns.T
    return made


def _coverage(
    edges: NDArray[np.int64], size: int, place: float, factor: float, target: float
) -> NDArray[np.float64]:
    """Return which share of each new pixel is covered by each old one, along one axis."""
    ends = place + (edges - target) / factor
    old = np.arange(size)
    overlap = np.minimum(ends[1:, None], old + 1) - np.maximum(ends[:-1, None], old)
    shares: NDArray[np.float64] = np.clip(overlap, 0, None) * factor
    return shares
