"""Statistics over seeds and pairs: Welch's test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .errors import DataError

_ROUNDING = 1e-12
"""Share of the largest value below which a spread or a difference is one of rounding."""


@dataclass(frozen=True)
class Welch:
    """Outcome of Welch's test on the means of two samples, whose variances may differ.

    Attributes
    ----------
    difference : float
        Mean of the first sample less that of the second.
    statistic, p_value : float
        Welch's t, and the chance of so much or more if the means were equal. Without any spread t is 0 for equal means,
        else infinite.
    """

    difference: float
    statistic: float
    p_value: float


def welch(
    first: ArrayLike,
    second: ArrayLike,
    alternative: Literal["greater", "less", "two-sided"] = "greater",
) -> Welch:
    """Test whether the mean of one sample is greater than (less than, other than) that of another.

    Examples
    --------
    >>> welch([0.99, 0.98, 0.99], [0.91, 0.93, 0.90]).p_value < 0.01
    True
    >>> welch([0.1] * 3, [0.1] * 7)  # the sums round differently
    Welch(difference=0.0, statistic=0.0, p_value=0.5)
    """
    samples = [np.asarray(sample, dtype=float).ravel() for sample in (first, second)]
    if min(sample.size for sample in samples) < 2:
        raise DataError(
            f"Welch's test needs two values or more on each side; got {samples[0].size} and {samples[1].size}"
        )
    scale = max(float(np.abs(sample).max()) for sample in samples) or 1.0
    shares = [sample / scale for sample in samples]
    # From rounding alone, equal values can have a spread, and equal means a difference.
    spreads = [0.0 if np.ptp(share) < _ROUNDING else float(share.std(ddof=1)) for share in shares]
    difference = float(samples[0].mean() - samples[1].mean())
    if abs(difference) < _ROUNDING * scale:
        difference = 0.0
    if not any(spreads):
        statistic = float(np.sign(difference) * np.inf) if difference else 0.0
        # What a normal distribution says at 0 and at infinity.
        above = 0.5 if not difference else 0.0 if difference > 0 else 1.0
        p_value = {"greater": above, "less": 1 - above, "two-sided": 2 * min(above, 1 - above)}[alternative]
        return Welch(difference, statistic, p_value)
    one, two = (
        (float(share.mean()), spread, len(share)) for share, spread in zip(shares, spreads, strict=True)
    )
    # Not ttest_ind: it warns about samples without spread, which are no fault here.
    found = stats.ttest_ind_from_stats(*one, *two, equal_var=False, alternative=alternative)
    return Welch(difference, float(found.statistic), float(found.pvalue))
