"""Networks from scratch as parts: what is merged, and what is left out."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch

import dovetail as dt
from dovetail.recipes import Comparison, Finished, Unit, find_recipe
from dovetail.recipes.cluster.augmentation import turned_shifted_mirrored
from dovetail.recipes.works import find_work
from dovetail.specialists.objectives import max_entropy_of

from .recipe_checks import check_units
from .smoke import run_smoke

NAME = "cifar"


def made_up(unit: Unit) -> Finished:
    """Return a finished unit: a sum in slots is nearly as good as a generalist."""
    seeds = len(unit.settings["seeds"])
    value = 0.9 if len(unit.settings["rewarded"]) == 1 else 0.891 if unit.settings["slots"] else 0.5
    each = {"accuracy": [value] * seeds, "left_out": [value] * seeds}
    row = {"alone": [0.95] * seeds, "merged": dict.fromkeys(unit.settings["methods"], each)}
    return Finished(unit, row, 1.0, "cpu")


def test_units_are_all_networks() -> None:
    check_units(NAME, paper=33, smoke=3)
    units = find_recipe(NAME).units("paper")
    assert {len(unit.settings["rewarded"][0]) for unit in units if unit.settings["net"] == "resnet18"} == {
        1, 2, 5, 10
    }  # fmt: skip
    for unit in units:
        assert len(unit.settings["seeds"]) == 1
        assert sorted(number for ids in unit.settings["rewarded"] for number in ids) == list(range(10))
    assert {unit.settings["net"] for unit in units if unit.settings["slots"]} == {
        "resnet18:240", "vgg11:240", "vit:640,heads=40,groups=10"
    }  # fmt: skip


def test_any_part_can_be_shown() -> None:
    recipe = find_recipe(NAME)
    assert not recipe.tables("paper", [])
    for units in (recipe.units("paper")[:1], recipe.units("paper")[:11], recipe.units("paper")):
        (table,) = recipe.tables("paper", [made_up(unit) for unit in units])
        assert isinstance(table, Comparison)
        assert len(table.wide()) == 8
    wide = table.wide().set_index("specialists")
    assert wide.loc["resnet18:240 in slots", "share of the sum"] == "0.9900"
    assert wide.loc["vgg11", "averaged logits"] == "0.5000 (0.0000)"


def test_the_first_seed_is_done_before_the_others() -> None:
    units = find_recipe(NAME).units("paper")
    seeds = [unit.settings["seeds"][0] for unit in units]
    assert seeds == sorted(seeds)
    assert [len(unit.settings["rewarded"]) for unit in units if not unit.settings["slots"]][:10] == [
        1, 1, 1, 2, 5, 10, 10, 10, 1, 1
    ]  # fmt: skip


def test_a_share_is_of_the_same_seeds() -> None:
    recipe = find_recipe(NAME)
    units = [unit for unit in recipe.units("paper") if unit.settings["net"].startswith("resnet18")]
    generalists = [unit for unit in units if len(unit.settings["rewarded"]) == 1]
    slots = next(unit for unit in units if unit.settings["slots"])
    rows = [made_up(unit) for unit in (*generalists, slots)]
    for one in rows[1:3]:
        one.row["merged"]["sum"] = {"accuracy": [0.1], "left_out": [None]}
    (table,) = recipe.tables("paper", rows)
    assert isinstance(table, Comparison)
    wide = table.wide().set_index("specialists")
    assert wide.loc["resnet18:240 in slots", "share of the sum"] == "0.9900"


def test_what_was_stopped_goes_on_with_the_next_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    unit = find_recipe(NAME).units("smoke")[-1]
    settings = {**unit.settings, "training": {**unit.settings["training"], "epochs": 1}}
    trained: list[object] = []
    train = dt.train_specialists

    def stopping(data: dt.Dataset, net: str, rewarded: Any, **options: Any) -> Any:
        trained.append(rewarded)
        if len(trained) == 2:
            raise KeyboardInterrupt
        return train(data, net, rewarded, **options)

    whole = find_work(unit.work).run(settings, torch.device("cpu"))
    assert not list((tmp_path / "from-scratch").iterdir())
    monkeypatch.setattr("dovetail.recipes.beyond.from_scratch.train_specialists", stopping)
    with pytest.raises(KeyboardInterrupt):
        find_work(unit.work).run(settings, torch.device("cpu"))
    (kept,) = (tmp_path / "from-scratch").iterdir()
    (first,) = kept.glob("*.safetensors")
    made = first.stat().st_mtime_ns
    seen: list[int] = []

    def noting(*given: Any, **options: Any) -> Any:
        seen.append(first.stat().st_mtime_ns)
        return train(*given, **options)

    monkeypatch.setattr("dovetail.recipes.beyond.from_scratch.train_specialists", noting)
    assert find_work(unit.work).run(settings, torch.device("cpu")) == whole
    assert seen == [made, made]
    assert not kept.exists()


@pytest.mark.slow
def test_smoke_scale() -> None:
    slots, generalist, whole = (one.row["merged"] for one in run_smoke(f"beyond/{NAME}"))
    assert generalist["sum"]["left_out"] == [None]
    # Sums of whole networks are where the paper's limits are; logits and slots are ways past them.
    assert slots["sum"]["accuracy"][0] > 0.75
    assert whole["logits"]["accuracy"][0] > 0.9
    assert whole["logits"]["accuracy"][0] > whole["sum"]["accuracy"][0]


@pytest.mark.slow
def test_one_left_out_is_the_mean_over_all_that_can_be() -> None:
    unit = find_recipe(NAME).units("smoke")[0]
    training = {**unit.settings["training"], "epochs": 2}
    rewarded = [[0, 1, 2], [3], [4, 5, 6, 7, 8, 9]]
    settings = {**unit.settings, "training": training, "rewarded": rewarded, "methods": ["sum", "logits"]}
    found = find_work(unit.work).run(settings, torch.device("cpu"))
    data = dt.load("digits")
    team = dt.train_specialists(
        data, settings["net"], rewarded, slots=True, sparsity=0.0, progress=False, **training
    )
    rests = [[team[1], team[2]], [team[0], team[2]], [team[0], team[1]]]
    for method in ("sum", "logits"):
        wanted = fmean(
            dt.compose(rest, method=method).evaluate(data.test).rewarded_accuracy for rest in rests
        )
        assert found["merged"][method]["left_out"] == [pytest.approx(wanted, abs=1e-6)]
    assert found["alone"] == [
        pytest.approx(fmean(score.rewarded_accuracy for score in team.evaluate(data.test)), abs=1e-6)
    ]


def test_a_generalist_learns_by_cross_entropy() -> None:
    logits, target = torch.randn(5, 4), torch.tensor([0, 1, 2, 3, 0])
    rewarded = torch.ones(1, 5, dtype=torch.bool)
    (loss,) = max_entropy_of(logits[None].log_softmax(2), target, rewarded)
    assert torch.allclose(loss, torch.nn.functional.cross_entropy(logits, target, reduction="none"))


def test_images_are_changed_at_paper_scale_only(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    class Stopped(Exception):  # noqa: N818
        pass

    def noted(*_: object, augment: object, **__: object) -> None:
        seen.append(augment)
        raise Stopped

    monkeypatch.setattr("dovetail.recipes.beyond.from_scratch.train_specialists", noted)
    monkeypatch.setattr("dovetail.recipes.beyond.from_scratch.load_named", lambda _: dt.load("digits"))
    for scale in ("paper", "smoke"):
        unit = find_recipe(NAME).units(scale)[0]
        with pytest.raises(Stopped):
            find_work(unit.work).run(unit.settings, torch.device("cpu"))
    assert seen == [turned_shifted_mirrored, None]
