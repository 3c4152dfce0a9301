"""Mean, spread and Welch's test over seeds and pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import stats

from ..errors import DataError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Welch:
    """Outcome of Welch's test that one mean is greater than another (variances may differ).

    Attributes
    ----------
    difference : float
        Mean of the first sample less that of the second.
    statistic, p_value : float
        Welch's t, and the chance of so much or more if the means were equal.
    """

    difference: float
    statistic: float
    p_value: float


def welch(
    first: Sequence[float],
    second: Sequence[float],
    alternative: Literal["greater", "less", "two-sided"] = "greater",
) -> Welch:
    """Test whether the mean of one sample is greater than (or other than) that of another.

    Examples
    --------
    >>> welch([0.99, 0.98, 0.99], [0.91, 0.93, 0.90]).p_value < 0.01
    True
    """
    a, b = (np.asarray(sample, dtype=float) for sample in (first, second))
    if min(a.size, b.size) < 2:
        raise DataError(f"Welch's test needs two values or more on each side; got {a.size} and {b.size}")
    difference = float(a.mean() - b.mean())
    if a.std() == 0 and b.std() == 0:  # no spread at all: scipy gives NaN for equal means
        certain = {"greater": difference > 0, "less": difference < 0, "two-sided": difference != 0}[
            alternative
        ]
        return Welch(
            difference, float(np.sign(difference) * np.inf if difference else 0.0), 0.0 if certain else 1.0
        )
    result = stats.ttest_ind(a, b, equal_var=False, alternative=alternative)
    return Welch(difference, float(result.statistic), float(result.pvalue))


def summary(groups: Mapping[str, Sequence[float]], *, confidence: float = 0.95) -> pd.DataFrame:
    """Return mean and sd of each group, and whether it is the best: none is above it by Welch's test.

    Examples
    --------
    >>> table = summary({"me": [0.99, 0.98, 0.99], "xe": [0.71, 0.69, 0.75]})
    >>> table["best"].to_dict()
    {'me': True, 'xe': False}
    """
    import pandas as pd

    if not groups:
        raise DataError("a summary needs at least one group")
    best = max(groups, key=lambda name: float(np.mean(groups[name])))
    rows = {
        name: {
            "mean": float(np.mean(values)),
            "sd": float(np.std(values, ddof=1)) if len(values) > 1 else float("nan"),
            "n": len(values),
            "best": name == best or welch(groups[best], values).p_value > 1 - confidence,
        }
        for name, values in groups.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")
