"""Owners who send what they learned once: who has what, what is averaged, and what is shown."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dt
from dovetail.data.split import Split
from dovetail.engine.costs import unit_seconds
from dovetail.errors import SpecError
from dovetail.recipes import Comparison, Finished, Unit, find_recipe
from dovetail.recipes.beyond import known_trunks, owning
from dovetail.recipes.beyond.owners import JOINT, METHODS
from dovetail.recipes.beyond.owning import federated, owners_of, shares_of
from dovetail.recipes.beyond.yardsticks import new_head

from .recipe_checks import check_any_part, check_units
from .smoke import run_smoke

NAME = "owners"


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path_factory.mktemp("cache")))
    known_trunks._features.cache_clear()


def made_up(unit: Unit) -> Finished:
    """Return a finished unit: sums are a point below the joint head."""
    values = {JOINT: 0.9, "sums": 0.89}
    methods = {
        name: {
            "accuracy": values.get(name, 0.5),
            "validation": 0.5,
            "sent": None if name == JOINT else 2.5e6,
        }
        for name, kind in METHODS.items()
        if kind == unit.settings["kind"]
    }
    return Finished(unit, {"methods": methods}, 1.0, "cpu")


def test_units_are_all_ways_to_share() -> None:
    check_units(NAME, paper=2 * 2 * 2, smoke=4)
    units = find_recipe(NAME).units("paper")
    assert {unit.settings["shares"] for unit in units} == {"classes", "dirichlet"}
    assert all(unit.settings["owners"] == 10 for unit in units)
    assert all(0 < unit_seconds(unit, "cpu") < 3600 for unit in units)


def test_any_part_can_be_shown() -> None:
    check_any_part(NAME, made_up, figures=["owners"])
    recipe = find_recipe(NAME)
    (table,) = recipe.tables("paper", [made_up(unit) for unit in recipe.units("paper")])
    assert isinstance(table, Comparison)
    wide = table.wide()
    assert len(wide) == 4 * len(METHODS)
    assert set(wide[wide["method"] == "sums"]["below joint"]) == {"0.0100"}
    assert set(wide[wide["method"] == JOINT]["MB sent"]) == {"–"}


@pytest.mark.slow
def test_smoke_scale() -> None:
    rows: dict[str, dict[str, float]] = {"classes": {}, "dirichlet": {}}
    for one in run_smoke(f"beyond/{NAME}"):
        rows[one.unit.settings["shares"]] |= {
            name: own["accuracy"] for name, own in one.row["methods"].items()
        }
    assert rows["classes"].keys() == rows["dirichlet"].keys() == set(METHODS)
    for found in rows.values():
        assert found["FedAvg, 1 round"] < found["FedAvg, 100 rounds"] <= found[JOINT] + 0.05
    # Heads that know one class each say so to everything; what is sent once in parts is no worse for that.
    assert rows["classes"]["averaged logits"] < 0.4 < rows["classes"]["specialists"]
    assert rows["classes"]["sums"] == rows["dirichlet"]["sums"]


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(["classes", "dirichlet"]), st.integers(2, 6), st.integers(0, 99))
def test_every_sample_has_one_owner_and_shares_are_kept(kind: str, owners: int, seed: int) -> None:
    shares = shares_of(kind, 12, owners, seed)
    assert torch.allclose(shares.sum(1), torch.ones(12), atol=1e-5)
    split = Split(torch.zeros(1200, 1), torch.arange(1200) % 12)
    (owner,) = owners_of([split], shares, seed)
    counts = torch.stack([(owner[split.y == number]).bincount(minlength=owners) for number in range(12)])
    assert counts.shape == (12, owners)
    assert torch.allclose(counts / 100, shares, atol=0.0101)


def test_owners_with_classes_of_their_own_have_as_many() -> None:
    shares = shares_of("classes", 150, 10, seed=3)
    assert shares.sum(0).tolist() == [15.0] * 10
    assert set(shares.flatten().tolist()) == {0.0, 1.0}


def test_unknown_ways_to_share_are_answered_with_the_nearest() -> None:
    with pytest.raises(SpecError, match="dirichlet"):
        shares_of("dirichlett", 3, 2, 0)


def test_one_owner_is_trained_as_if_there_were_no_averaging() -> None:
    draw = torch.Generator().manual_seed(0)
    own = Split(torch.randn(64, 3, generator=draw), torch.arange(64) % 2)
    first = new_head(3, 4, 2, seed=0)
    how = {"lr": 0.1, "batch_size": 64, "seed": 0}
    before = copy.deepcopy(first)
    once, often = (federated(first, [own], rounds=r, epochs=e, **how) for r, e in ((1, 6), (3, 2)))  # type: ignore[arg-type]
    # Batches of all samples, so that only the order of a sum is drawn.
    for a, b in zip(once.average.parameters(), often.average.parameters(), strict=True):
        assert torch.allclose(a, b, atol=1e-5)
    for a, b in zip(first.parameters(), before.parameters(), strict=True):
        assert a.equal(b)


def test_owners_count_by_their_samples() -> None:
    draw = torch.Generator().manual_seed(0)
    owned = [Split(torch.randn(n, 3, generator=draw), torch.arange(n) % 2) for n in (30, 10)]
    found = federated(new_head(3, 4, 2, 0), owned, rounds=1, epochs=1, lr=0.5, batch_size=8, seed=0)
    for average, a, b in zip(
        found.average.parameters(), *(head.parameters() for head in found.owners), strict=True
    ):
        assert torch.allclose(average, 0.75 * a + 0.25 * b, atol=1e-6)


def test_an_owner_sees_its_own_samples_and_draws_alone() -> None:
    unit = find_recipe(NAME).units("smoke")[0]
    owned = owning._Owned.of(unit.settings)
    cards = [owning._cards_of(own, 10) for own in owned.train]
    seen, weights = owning._beside_cards(owned, 0, cards, seed=0)
    own = owned.train[0]
    assert seen.train.x[: len(own)].equal(own.x)
    theirs = {tuple(row) for row in owned.data.train.x.tolist()} - {tuple(row) for row in own.x.tolist()}
    assert not any(tuple(row) in theirs for row in seen.train.x.tolist())
    # As much of every class as there are samples of it.
    assert torch.zeros(10).index_add_(0, seen.train.y, weights).tolist() == pytest.approx(
        owned.data.train.y.bincount().tolist()
    )


def test_sums_of_owners_are_those_of_all_samples() -> None:
    unit = next(one for one in find_recipe(NAME).units("smoke") if one.settings["shares"] == "dirichlet")
    owned = owning._Owned.of(unit.settings)
    parts = [
        owning._sums_of(replace(owned.data, train=own), unit.settings) for own in owned.train if len(own)
    ]
    assert len(parts) > 1
    assert dt.compose(parts).sums_digest == dt.compose(dt.sums(owned.data, features=100, seed=0)).sums_digest
