"""The estimates, against what was measured on an H200 and on one core (docs/performance.md)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.engine.costs import makespan, unit_bytes, unit_seconds, workload_seconds
from dovetail.recipes import Workload, recipes

IMAGE = (1, 28, 28)


@pytest.mark.parametrize(
    ("net", "members", "device", "microseconds"),
    [
        ("mlp:512", 1, "cuda", 120.7),
        ("mlp:512", 50, "cuda", 9.5),
        ("mlp:512", 300, "cuda", 6.8),
        ("lenet", 50, "cuda", 28.2),
        ("small-cnn", 10, "cuda", 412.0),
        ("mlp:512", 20, "cpu", 1900.0),
    ],
)
def test_estimates_are_near_what_was_measured(
    net: str, members: int, device: str, microseconds: float
) -> None:
    few, many = (
        workload_seconds(Workload(net, IMAGE, 10, members, steps, 64), device) for steps in (1000, 2000)
    )
    assert 0.6 < (many - few) / (1000 * members) * 1e6 / microseconds < 1.7


@given(seconds=st.lists(st.floats(0.1, 100), min_size=1, max_size=6), places=st.integers(1, 4))
def test_the_makespan_is_near_the_best_there_is(seconds: list[float], places: int) -> None:
    best = min(
        max(
            sum(s for s, where in zip(seconds, assigned, strict=True) if where == place)
            for place in range(places)
        )
        for assigned in itertools.product(range(places), repeat=len(seconds))
    )
    found = makespan(seconds, places)
    # Longest first is never worse than 4/3 of the best.
    assert best - 1e-9 <= found <= best * 4 / 3 + 1e-9


@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe.name)
def test_every_unit_has_an_estimate(recipe: object) -> None:
    for scale in ("smoke", "paper"):
        units = recipe.units(scale)  # type: ignore[attr-defined]
        assert len({unit.key for unit in units}) == len(units)
        for unit in units[:3] + units[-1:]:
            assert 0 < unit_seconds(unit, "cuda") < 1e6
            assert unit_seconds(unit, "cuda") <= unit_seconds(unit, "cpu")
            assert 0 <= unit_bytes(unit) < 141e9
        assert len({unit.label for unit in units}) == len(units)
