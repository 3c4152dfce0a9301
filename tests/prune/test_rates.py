from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import SpecError
from dovetail.prune import cubic_sparsity, rate_per_round


@given(st.floats(0, 0.999), st.integers(1, 30))
def test_rounds_add_up_to_the_sparsity(sparsity: float, rounds: int) -> None:
    assert 1 - (1 - rate_per_round(sparsity, rounds)) ** rounds == pytest.approx(sparsity, abs=1e-9)


def test_cubic_sparsity_by_hand() -> None:
    assert cubic_sparsity(0, 10, 20, initial=0.2, final=1.0) == pytest.approx(0.2)
    assert cubic_sparsity(15, 10, 20, initial=0.2, final=1.0) == pytest.approx(1 - 0.8 / 8)
    assert cubic_sparsity(20, 10, 20) == 0.9
    assert cubic_sparsity(99, 10, 20) == 0.9


@given(st.floats(-50, 150), st.floats(0, 100))
def test_cubic_sparsity_only_grows(step: float, further: float) -> None:
    assert cubic_sparsity(step, 0, 100) <= cubic_sparsity(step + further, 0, 100) + 1e-12


@pytest.mark.parametrize(("sparsity", "rounds"), [(1.5, 2), (-0.1, 2), (float("nan"), 1), (0.5, 0)])
def test_wrong_rates(sparsity: float, rounds: int) -> None:
    with pytest.raises(SpecError):
        rate_per_round(sparsity, rounds)


def test_wrong_schedules() -> None:
    with pytest.raises(SpecError, match="start=5, end=5"):
        cubic_sparsity(1, 5, 5)
    with pytest.raises(SpecError, match=r"-0\.1"):
        cubic_sparsity(1, 0, 5, initial=-0.1)
