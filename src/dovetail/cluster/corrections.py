"""Corrections of p-values for there being several tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import false_discovery_control

from ..graph.graph import Floats


def holm(p_values: ArrayLike) -> Floats:
    """Return p-values adjusted by Holm's method: that any is at most 0.05 has a chance of 5 % if nothing is there.

    Those that are not a number stay so, and do not count.

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(given.shape, np.nan)
    there = np.flatnonzero(~np.isnan(given))
    order = there[np.argsort(given[there], kind="stable")]
    adjusted[order] = np.maximum.accumulate(given[order] * np.arange(len(order), 0, -1))
    found: Floats = np.minimum(adjusted, 1)
    return found


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Return p-values adjusted for false discoveries: of those at most 0.05, one in twenty is expected to be nothing.

    Those that are not a number stay so, and do not count.

    References
    ----------
    Benjamini and Hochberg, "Controlling the false discovery rate", 1995.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, float("nan"), 0.03]).round(3).tolist()
    [0.03, 0.04, nan, 0.04]
    """
    given = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(given.shape, np.nan)
    there = ~np.isnan(given)
    if there.any():
        adjusted[there] = false_discovery_control(given[there])
    return adjusted
