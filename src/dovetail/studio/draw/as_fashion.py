"""Drawings as images of Fashion-MNIST: the longer side fills all 28 pixels, and the middle is in the middle.

Its images are photographs of clothes, so what an outline encloses is filled.

References
----------
H. Xiao, K. Rasul and R. Vollgraf, "Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning Algorithms",
2017.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from .pad import Ink, box_around, is_inked
from .resampling import resampled

_SIDE = 28


def as_fashion(ink: Ink) -> Ink:
    """Return a drawing as an image of Fashion-MNIST: 28 × 28 values from 0 to 1.

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
