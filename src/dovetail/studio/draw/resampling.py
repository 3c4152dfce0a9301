"""Images at another size and place: each new pixel is the mean of what it covers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .pad import Ink


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
