"""Statistics over seeds and pairs: mean, spread and Welch's test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .errors import DataError

if TYPE_CHECKING:
    import pandas as pd

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


def summary(groups: Mapping[str, ArrayLike], *, confidence: float = 0.95) -> pd.DataFrame:
    """Return mean and sd of each group, and whether it is among the best: none is above it by Welch's test.

    Where it or the highest one is a single value, there is no spread to test with, and the means alone decide.

    Examples
    --------
    >>> table = summary({"me": [0.99, 0.98, 0.99], "xe": [0.71, 0.69, 0.75]})
    >>> table["best"].to_dict()
    {'me': True, 'xe': False}
    """
    import pandas as pd

    if not groups:
        raise DataError("a summary needs at least one group")
    values = {name: np.asarray(group, dtype=float).ravel() for name, group in groups.items()}
    for name, sample in values.items():
        if not sample.size:
            raise DataError(f"group {name!r} has no values to summarise; leave it out")
    highest = max(values.values(), key=lambda sample: float(sample.mean()))

    def among_best(sample: np.ndarray) -> bool:
        if sample.mean() == highest.mean():
            return True
        return min(sample.size, highest.size) > 1 and welch(highest, sample).p_value > 1 - confidence

    return pd.DataFrame.from_dict(
        {
            name: {
                "mean": float(sample.mean()),
                "sd": float(sample.std(ddof=1)) if sample.size > 1 else float("nan"),
                "n": sample.size,
                "best": bool(among_best(sample)),
            }
            for name, sample in values.items()
        },
        orient="index",
    )
