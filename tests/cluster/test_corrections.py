"""Corrections for several tests, against what they promise; and how sure a z-score is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from dovetail.cluster.corrections import benjamini_hochberg, holm
from dovetail.cluster.null import Null

P_VALUES = st.lists(st.floats(0.001, 1), min_size=1, max_size=12)


@given(P_VALUES)
def test_holm_is_the_step_down_of_bonferroni(values: list[float]) -> None:
    adjusted = holm(values)
    order = sorted(range(len(values)), key=lambda place: values[place])
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, (len(values) - rank) * values[place])
        assert adjusted[place] == pytest.approx(min(1.0, highest))


@given(P_VALUES)
def test_benjamini_hochberg_is_the_step_up(values: list[float]) -> None:
    adjusted = benjamini_hochberg(values)
    for level in (0.01, 0.05, 0.2):
        ranked = sorted(values)
        most = max((rank for rank, p in enumerate(ranked, 1) if p <= level * rank / len(values)), default=0)
        cut = ranked[most - 1] if most else -1.0
        assert [bool(one <= level + 1e-12) for one in adjusted] == [p <= cut for p in values]


def test_what_is_not_there_does_not_count() -> None:
    for method in (holm, benjamini_hochberg):
        assert method([]).tolist() == []
        with_gap = method([0.01, float("nan"), 0.04])
        assert np.isnan(with_gap[1])
        assert with_gap[[0, 2]] == pytest.approx(method([0.01, 0.04]))
        assert np.isnan(method([float("nan")])).all()


def test_holm_is_wrong_in_one_family_of_twenty() -> None:
    drawn = np.random.default_rng(0).random((2000, 8))
    wrong = np.mean([(holm(row) <= 0.05).any() for row in drawn])
    assert 0.03 < wrong < 0.07


def test_the_range_of_z_covers_the_true_one() -> None:
    rng = np.random.default_rng(1)
    covered = [
        low < -3 < high for low, high in (Null(-3.0, rng.normal(size=60)).z_range() for _ in range(200))
    ]
    assert 0.88 < np.mean(covered) < 0.99
    low, high = Null(-3.0, norm.ppf((np.arange(500) + 0.5) / 500)).z_range()
    assert low < -3 < high
    assert high - low < 1


def test_few_or_equal_copies_have_no_range() -> None:
    for copies in ([], [2.0], [2.0, 2.0, 2.0]):
        assert np.isnan(Null(1.0, np.array(copies)).z_range()).all()


def test_lower_by_is_the_share_below_the_mean() -> None:
    assert Null(1.5, np.array([1.0, 3.0])).lower_by == pytest.approx(0.25)
    assert Null(3.0, np.array([1.0, 3.0])).lower_by == pytest.approx(-0.5)
    assert np.isnan(Null(1.0, np.zeros(0)).lower_by)
