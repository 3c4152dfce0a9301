from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dovetail.errors import DataError
from dovetail.statistics import welch


def test_welch_is_the_formula() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(1, 1, 12), rng.normal(0.3, 3, 7)
    va, vb = a.var(ddof=1) / 12, b.var(ddof=1) / 7
    t = (a.mean() - b.mean()) / math.sqrt(va + vb)
    freedom = (va + vb) ** 2 / (va**2 / 11 + vb**2 / 6)
    found = welch(list(a), list(b))
    assert found.statistic == pytest.approx(t)
    assert found.p_value == pytest.approx(stats.t.sf(t, freedom))
    assert welch(list(a), list(b), "two-sided").p_value == pytest.approx(2 * stats.t.sf(abs(t), freedom))
    assert found.difference == pytest.approx(a.mean() - b.mean())


def test_groups_without_spread() -> None:
    assert welch([1.0, 1.0], [1.0, 1.0]).p_value == 0.5
    assert welch([1.0, 1.0], [1.0, 1.0], "two-sided").p_value == 1.0
    assert welch([1.0, 1.0], [0.5, 0.5]).p_value == 0.0
    assert welch([0.5, 0.5], [1.0, 1.0]).p_value == 1.0
    assert welch([0.5, 0.5], [1.0, 1.0], "less").p_value == 0.0
    assert welch([0.5, 0.5], [1.0, 1.0], "two-sided").p_value == 0.0
    assert welch([0.0, 0.0], [0.0, 0.0]).statistic == 0.0
    with pytest.raises(DataError, match="two values"):
        welch([1.0], [1.0, 2.0])


def test_identical_constants_are_never_significant() -> None:
    """The mean of a constant rounds otherwise for other counts, which is no difference and no spread."""
    for value in (number / 100 for number in range(1, 101)):
        for first in range(2, 13):
            for second in range(2, 13):
                found = welch([value] * first, [value] * second)
                assert (found.difference, found.statistic, found.p_value) == (0.0, 0.0, 0.5)
