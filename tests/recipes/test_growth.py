"""Classes that come a few at a time: which runs there are, what is shown of them, and what they keep."""

from __future__ import annotations

import pytest
import torch

import dovetail as dt
from dovetail.engine.costs import unit_seconds
from dovetail.errors import SpecError
from dovetail.recipes import Comparison, Finished, Unit, find_recipe
from dovetail.recipes.beyond import known_trunks
from dovetail.recipes.beyond.features_by_class import in_order, of_classes, scaled_by
from dovetail.recipes.beyond.growing import run
from dovetail.recipes.beyond.growth import AT_ONCE, JOINT, METHODS

from .recipe_checks import check_any_part, check_units
from .smoke import run_smoke

NAME = "growth"


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path_factory.mktemp("cache")))
    known_trunks._features.cache_clear()


def made_up(unit: Unit) -> Finished:
    """Return a finished unit: specialists are a point below the joint head, and worse in every further order."""
    settings = unit.settings
    ends = [
        min(settings["first"] + (place - 1) * settings["step"], settings["outputs"])
        for place in settings["measured"]
    ]
    if settings["kind"] == "together":
        ends = ends[-1:]
    names = (
        AT_ONCE
        if settings["kind"] == "together"
        else [n for n, k in METHODS.items() if k == settings["kind"]]
    )
    values = {JOINT: 0.9, "specialists": 0.89 - 0.001 * settings["order"], AT_ONCE[0]: 0.9, AT_ONCE[1]: 0.896}
    methods = {
        name: {"accuracy": [values.get(name, 0.8)] * len(ends), "validation": [0.5] * len(ends)}
        for name in names
    }
    row = {"classes": ends, "methods": methods, "seconds": {"add": 2.0, "drop": 0.004}, "file": 74_000}
    return Finished(unit, row, 1.0, "cpu")


def test_units_are_all_runs() -> None:
    check_units(NAME, paper=2 * (10 + 10 + 5) + 3 + 1 + 2, smoke=4)
    units = find_recipe(NAME).units("paper")
    assert all(unit.settings["order"] == unit.settings["seed"] for unit in units)
    assert all(0 < unit_seconds(unit, "cpu") < 3600 for unit in units)
    # What every method is measured by is there after the first run of each.
    assert [unit.settings["order"] for unit in units] == sorted(unit.settings["order"] for unit in units)


def test_any_part_can_be_shown() -> None:
    check_any_part(NAME, made_up, figures=["growth"])
    recipe = find_recipe(NAME)
    end, steps, at_once, costs = recipe.tables("paper", [made_up(unit) for unit in recipe.units("paper")])
    assert isinstance(end, Comparison)
    wide = end.wide()
    first = wide[wide["classes"] == wide["classes"].iloc[0]].set_index("method")
    assert first.loc["specialists", "spread"] == "0.0090"
    assert first.loc["specialists", "below joint"] == "0.0145"
    assert first.loc[JOINT, "below joint"] == "–"
    assert list(steps.wide()["classes"])[:5] == ["2", "4", "6", "8", "10"]
    assert set(at_once.wide()["below together"]) == {"0.0040"}
    assert set(costs.wide()["kB of a file"]) >= {"74.00 (0.00)"}


@pytest.mark.slow
def test_smoke_scale() -> None:
    finished = run_smoke(f"beyond/{NAME}")
    last = {
        name: own["accuracy"][-1] for one in reversed(finished) for name, own in one.row["methods"].items()
    }
    # Seven of ten classes are forgotten by a head that learns on, and hardly any by what keeps sums or cards.
    assert last["fine-tuned head"] < 0.45
    assert all(last[name] > last["fine-tuned head"] + 0.1 for name in last if name != "fine-tuned head")
    assert last["specialists"] > last["specialists, not introduced"]
    assert last["sums"] == pytest.approx(last["random-feature ridge"], abs=0.05)
    parts = next(one.row for one in finished if one.unit.settings["kind"] == "parts")
    assert parts["classes"] == [4, 7, 10]
    assert 0 < parts["file"] < 100_000
    assert all(second > 0 for second in parts["seconds"].values())


def test_an_order_renames_classes_and_moves_no_sample() -> None:
    data = dt.load("digits")
    moved = in_order(data, 3)
    assert moved.train.x is data.train.x
    assert [moved.classes[number][4:] for number in moved.val.y.tolist()] == [
        data.classes[number] for number in data.val.y.tolist()
    ]
    assert moved.classes == tuple(sorted(moved.classes))
    assert in_order(data, 4).classes != moved.classes


def test_classes_are_cut_out_with_their_names() -> None:
    data = dt.load("digits")
    some = of_classes(data, 4, 6)
    assert some.classes == ("4", "5")
    assert some.test.y.unique().tolist() == [0, 1]
    assert some.test.x.equal(data.test.x[(data.test.y == 4) | (data.test.y == 5)])


def test_what_was_scaled_by_all_classes_before_leaves_nothing() -> None:
    """Features that were shifted and scaled by all samples are, scaled by the first, what raw ones would be."""
    data = dt.load("digits")
    raw = dt.Dataset.from_arrays(data.train.x.flatten(1).numpy() + 1, data.train.y.numpy(), scale="none")
    first = raw.train.where(raw.train.y < 2)
    shifted = scaled_by(raw, raw.train)
    again = scaled_by(shifted, shifted.train.where(shifted.train.y < 2))
    varies = first.x.std(0) > 1e-3
    assert torch.allclose(again.test.x[:, varies], scaled_by(raw, first).test.x[:, varies], atol=1e-3)


@pytest.mark.slow
def test_old_classes_are_learned_from_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step is given the samples of its own classes alone."""
    unit = next(one for one in find_recipe(NAME).units("smoke") if one.settings["kind"] == "parts")
    seen: list[set[str]] = []
    original = dt.train_specialists

    def watched(data: dt.Dataset, *arguments: object, **options: object) -> object:
        seen.append(set(data.classes))
        return original(data, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("dovetail.recipes.beyond.growing.train_specialists", watched)
    run(dict(unit.settings) | {"training": {**unit.settings["training"], "epochs": 1}}, torch.device("cpu"))
    assert len(seen) == 3
    assert all(not (one & other) for place, one in enumerate(seen) for other in seen[:place])


def test_unknown_kinds_are_answered_with_the_nearest() -> None:
    (unit, *_) = find_recipe(NAME).units("smoke")
    with pytest.raises(SpecError, match="closed forms"):
        run(dict(unit.settings) | {"kind": "closed form"}, torch.device("cpu"))
