"""Forgetting a class: what is trained, what is measured, and what the tables make of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import dovetail as dt
from dovetail.engine.costs import unit_seconds
from dovetail.errors import SpecError
from dovetail.recipes import Comparison, Finished, Unit, find_recipe
from dovetail.recipes.beyond import forgetting, known_trunks
from dovetail.recipes.beyond.forget import _WAYS
from dovetail.recipes.works import find_work

from .recipe_checks import check_units
from .smoke import run_smoke

NAME = "forget"
DIGITS = dt.load("digits")


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path_factory.mktemp("cache")))
    known_trunks._features.cache_clear()


def made_up(unit: Unit) -> Finished:
    """Return a finished unit in which odd seeds do not learn the class again."""
    measures = (
        "rest_training",
        "rest",
        "taken_for_unseen",
        "seconds",
        "entropy",
        "probe",
        "confidence",
        "neural",
    )
    ways = _WAYS[unit.settings["kind"]]
    row = {measure: dict.fromkeys(ways, 0.75) for measure in measures}
    row["forgotten_training"] = {way: 1.0 if way == "with it" else 0.25 for way in ways}
    lost = unit.settings["seed"] % 2
    again = dict.fromkeys(ways[1:], None if lost else 20.0)
    return Finished(unit, row | {"steps": again, "samples": again}, 1.0, "cpu")


def test_units_are_all_kinds_with_all_seeds_and_trunks_first() -> None:
    check_units(NAME, paper=8 * 5, smoke=3)
    units = find_recipe(NAME).units("paper")
    assert [bool(unit.settings["trunk"]) for unit in units] == [True] * 30 + [False] * 10
    assert {(unit.settings["seed"], unit.settings["forget"]) for unit in units} == {
        (s, 2 * s) for s in range(5)
    }
    assert {unit.settings["net"] for unit in units[30:]} == {"resnet18", "resnet18:240"}
    for unit in units:
        assert 0 < unit_seconds(unit, "cuda") <= unit_seconds(unit, "cpu")
        assert unit.label


def test_any_part_can_be_shown() -> None:
    recipe = find_recipe(NAME)
    assert not recipe.tables("paper", [])
    units = recipe.units("paper")
    for some in (units[:1], units):
        finished = [made_up(unit) for unit in some]
        field, tells = recipe.tables("paper", finished)
        assert isinstance(field, Comparison)
        assert isinstance(tells, Comparison)
        assert len(field.wide()) == len(tells.wide()) == 8 * 3
        assert [name for name, _ in recipe.figures("paper", finished)] == ["learnt-again"]
    rows = {(row["part"], row["way"]): row for row in field.wide().to_dict("records")}
    assert rows["ResNet-18", "fine-tuned"]["forgotten"] == "75.00 (0.00)"
    rows = {(row["part"], row["way"]): row for row in tells.wide().to_dict("records")}
    left = rows["ResNet-18 in slots", "left out"]
    assert (left["steps"], left["not learnt"]) == ("20.000 (0.000)", "2/5")
    assert {row["not learnt"] for (_, way), row in rows.items() if way == "with it"} == {
        "–"
    }  # nothing to learn


@pytest.mark.slow
def test_smoke_scale() -> None:
    network, slots, sums = (one.row for one in run_smoke(f"beyond/{NAME}"))
    for row, way in ((slots, "left out"), (sums, "left out"), (network, "retrained")):
        assert row["forgotten"][way] == row["forgotten_training"][way] == 0
        assert row["taken_for_unseen"][way] == 1  # saturated, whatever is left
    assert network["forgotten"]["with it"] > 0.8
    assert slots["forgotten"]["with it"] > 0.8
    same = [name for name in sums if name != "seconds"]
    assert len(same) == 11
    for measure in same:  # to leave out of sums is to train without
        assert sums[measure]["left out"] == sums[measure]["retrained"]
    assert (
        slots["entropy"]["left out"] > slots["entropy"]["retrained"]
    )  # they were told to be undecided on it


def test_training_on_begins_with_the_weights_that_are_there() -> None:
    settings = {"net": "mlp:8,dropout=0", "seed": 3, "augment": False}
    training = {"optimizer": "sgd", "lr": 1e-9, "momentum": 0.0, "weight_decay": 0.0, "epochs": 1}
    start = dt.build_net("mlp:8,dropout=0", DIGITS.input_shape, DIGITS.outputs, seed=7)
    on = forgetting._trained(DIGITS, start, training, settings, torch.device("cpu"))
    for (name, weights), old in zip(on.state_dict().items(), start.state_dict().values(), strict=True):
        torch.testing.assert_close(weights, old, msg=name)


def test_sums_stand_on_features_that_no_sample_scaled(tmp_path: Path) -> None:
    unit = find_recipe(NAME).units("smoke")[-1]
    data = forgetting._data(unit.settings)
    assert data.preparation is not None
    assert data.preparation.scale == (1.0,)  # type: ignore[attr-defined]
    assert len(forgetting._data({**unit.settings, "kind": "slots"}).preparation.scale) > 1  # type: ignore[union-attr]


def test_an_unknown_kind_is_refused() -> None:
    unit = find_recipe(NAME).units("smoke")[0]
    with pytest.raises(SpecError, match="unknown kind of part 'sloths'"):
        find_work(unit.work).run({**unit.settings, "kind": "sloths"}, torch.device("cpu"))
