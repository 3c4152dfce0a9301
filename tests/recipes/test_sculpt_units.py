"""What the recipes of Neural Sculpting ask for: which units, and what units they share."""

from __future__ import annotations

import json
from itertools import product

import pytest

from dovetail.recipes import Unit, find_recipe, find_work
from dovetail.recipes.recipe import Scale
from dovetail.recipes.sculpt.settings import boolean_trials, pair_trials
from dovetail.recipes.unit import canonical

PAPER_UNITS = {
    "structure": 36,
    "validation": 36,
    "reuse": 45,
    "overlap": 225,
    "depth": 60,
    "two-digits": 9,
    "hierarchy": 24,
    "rates": 264,
    "clustering-choices": 36,
}
SCALES: tuple[Scale, ...] = ("smoke", "paper")


def _units(name: str, scale: Scale = "paper") -> list[Unit]:
    return list(find_recipe(f"sculpt/{name}").units(scale))


@pytest.mark.parametrize(("name", "scale"), [*product(PAPER_UNITS, SCALES)])
def test_units_are_unique_and_hold_nothing_but_json(name: str, scale: Scale) -> None:
    units = _units(name, scale)
    assert units
    assert len(set(units)) == len(units)
    for unit in units:
        assert json.loads(canonical(unit.settings)) == unit.settings


@pytest.mark.parametrize(("name", "count"), PAPER_UNITS.items())
def test_paper_scale_has_all_architectures(name: str, count: int) -> None:
    assert len(_units(name)) == count


def test_trials_of_the_paper_are_36_a_task() -> None:
    for name in ("validation", "two-digits"):
        by_task: dict[str, int] = {}
        for unit in _units(name):
            task = str(unit.settings["task"])
            by_task[task] = by_task.get(task, 0) + len(unit.settings["seeds"])
        assert set(by_task.values()) == {36}


def test_recipes_share_the_networks_that_they_have_in_common() -> None:
    validation = set(_units("validation"))
    assert set(_units("clustering-choices")) == validation
    assert len(set(_units("reuse")) & validation) == 9  # [4,1,2,16]
    assert len(set(_units("structure")) & validation) == 12  # the sculpted ones
    assert not set(_units("rates")) & validation


def test_settings_are_the_papers() -> None:
    settings = boolean_trials("paper", [6, 3, 3, 3], 36, 3).settings
    assert settings["unit_steps"] == [percent / 100 for percent in range(5, 75, 5)]
    assert settings["edge_steps"] == [0.005, 0.01, 0.015, 0.02, 0.025]
    assert (settings["threshold"], settings["noise"], settings["weight_decay"]) == (1.0, 0.1, 1e-4)
    assert (settings["modularity_threshold"], settings["merge_threshold"]) == (-0.2, 0.9)
    pairs = pair_trials("paper", "digit-xor", 784, 4, threshold=0.98).settings
    assert (pairs["modularity_threshold"], pairs["merge_threshold"]) == (-0.3, 0.6)
    assert pairs["task"] == {"data": "digit-xor", "base": "mnist", "pairs": 1_000, "seed": 0}


@pytest.mark.parametrize("scale", SCALES)
def test_smoke_needs_no_data_that_may_be_missing(scale: Scale) -> None:
    tasks = [unit.settings["task"] for name in PAPER_UNITS for unit in _units(name, scale)]
    bases = {task["base"] for task in tasks if isinstance(task, dict)}
    assert bases == {"digits" if scale == "smoke" else "mnist"}


def test_loads_grow_with_the_work() -> None:
    load = find_work("sculpt/trials").workload
    small = load(boolean_trials("smoke", [4, 2, 4], 12, 1).settings)
    large = load(boolean_trials("paper", [4, 2, 4], 12, 1).settings)
    assert (small.input_shape, small.outputs, small.batch_size) == ((4,), 4, 8)
    assert 0 < small.members < large.members <= 4 * 70
    assert 0 < small.steps < large.steps
    dense = load(
        boolean_trials("paper", [4, 2, 4], 24, 1, unit_steps=[], edge_steps=[], choices=None).settings
    )
    assert (dense.members, dense.steps) == (4, 15 * 2)  # one training of 15 epochs of two batches
    assert all(
        load(unit.settings).steps > 0
        for name in PAPER_UNITS
        for scale in SCALES
        for unit in _units(name, scale)
    )
