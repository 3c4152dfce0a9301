"""Two groups: how far the values of a unit are those of a bit, which is one of two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BOOLEAN_FROM = 0.9
"""Share of the variance that lies between two groups from which on values are taken for a bit's.

Three levels as far apart, all as frequent, have .75; a bit with noise of a tenth of its step has .96.
"""
_SAME = 1e-6
"""Values closer than this, as a share of the largest, are one."""


class TwoGroups(NamedTuple):
    """Values in two groups.

    Attributes
    ----------
    high : array of bool
        Which values are in the group of the larger ones.
    share : float
        How much of the variance lies between the groups: 1 where each group has one value, NaN where all are the same.
    levels : int
        How many values there are that differ.
    """

    high: NDArray[np.bool_]
    share: float
    levels: int

    @property
    def constant(self) -> bool:
        """Whether all values are the same."""
        return self.levels < 2

    @property
    def boolean(self) -> bool:
        """Whether the values are those of a bit."""
        return not self.constant and self.share >= BOOLEAN_FROM


def two_groups(values: NDArray[np.floating]) -> TwoGroups:
    """Return values in the two groups that lie furthest apart for their widths (which leave the least variance).

    Examples
    --------
    >>> two_groups(np.array([0.0, 1.1, 1.0, 0.0])).high.tolist()
    [False, True, True, False]
    >>> round(two_groups(np.array([0.0, 1.0, 2.0])).share, 2), two_groups(np.array([0.0, 1.0, 2.0])).boolean
    (0.75, False)
    """
    ordered = np.sort(values.astype(np.float64))
    scale = float(np.abs(ordered).max(initial=0.0))
    steps = np.flatnonzero(np.diff(ordered) > _SAME * scale) + 1
    if not len(steps):
        return TwoGroups(np.zeros(len(values), bool), float("nan"), min(len(values), 1))
    sums = np.cumsum(ordered)[steps - 1]
    rest = len(ordered) - steps
    means, others = sums / steps, (ordered.sum() - sums) / rest
    between = steps * rest * (others - means) ** 2 / len(ordered)
    best = int(np.argmax(between))
    total = float(((ordered - ordered.mean()) ** 2).sum())
    middle = (ordered[steps[best] - 1] + ordered[steps[best]]) / 2
    return TwoGroups(values > middle, min(float(between[best]) / total, 1.0), len(steps) + 1)
