"""Drawings as images of MNIST: scaled into a box of 20 × 20 pixels and centred by their mass in 28 × 28.

References
----------
Y. LeCun, C. Cortes and C. J. C. Burges, "The MNIST database of handwritten digits", 1998.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from .pad import Ink, box_around, is_inked
from .resampling import resampled

_SIDE, _BOX = 28, 20
_CENTRE = 14.5
"""Where the centre of mass of MNIST's images is: in the middle of pixel 14, counted from 0."""
_THICKEST = 3.5
"""Pixels of the box that a stroke may be thick. A small drawing is blown up with its strokes, and pens do not do that:
four of five strokes in MNIST are thinner."""


def as_mnist(ink: Ink) -> Ink:
    """Return a drawing as an image of MNIST: 28 × 28 values from 0 to 1.

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
