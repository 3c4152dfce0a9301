"""Specialists inside a composite, and the clusters of its graph."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from torch import nn

from dovetail.data.split import Split
from dovetail.recipes import Comparison, Finished, Unit, find_recipe
from dovetail.recipes.beyond.composite_clusters import cluster_network
from dovetail.recipes.beyond.findings import VIEWS
from dovetail.recipes.beyond.unit_owners import agreement, favourites, owners, weight_shares
from dovetail.recipes.recipe import Scale

from .recipe_checks import check_units
from .smoke import run_smoke

NAME = "modules-meet-clusters"
COUNTS = {"shuffles": 20, "copies": 2, "permutations": 49}


def made_up(unit: Unit) -> Finished:
    """Return a finished unit: without inputs, clusters are the owners; with them there is half the agreement."""
    seeds = len(unit.settings["seeds"])
    depth = unit.settings["net"].count("-") + 1

    def compared(value: float, p_value: float) -> dict[str, Any]:
        each = {
            "agreement": value, "layers": [value] * depth, "permuted": 0.0, "p_value": p_value, "copies": 0.0,
            "pattern copies": 0.25, "ncut": 4.0, "counts": [[3, 1], [0, 4]],
        }  # fmt: skip
        return {name: [kept] * seeds for name, kept in each.items()}

    def view(value: float, **memberships: dict[str, Any]) -> dict[str, Any]:
        each = {"ncut": 5.0, "dist_ncut": 6.0, "dist_sd": 0.1, "p_value": 0.02, "components": 1, "units": 60}
        liked = {"favourite": compared(value / 2, 0.5)}
        return {**{name: [kept] * seeds for name, kept in each.items()}, **memberships, **liked}

    least = 1 / (1 + unit.settings["permutations"])
    scores = {"accuracy": [0.9] * seeds, "density": [0.5] * seeds}
    composite = {
        **scores,
        "purity": [0.4] * seeds,
        "whole": view(0.5, owner=compared(0.5, 0.5)),
        "without inputs": view(1.0, owner=compared(1.0, least)),
    }
    generalist = {**scores, **{name: view(0.2) for name in VIEWS}}
    return Finished(unit, {"composite": composite, "generalist": generalist}, 1.0, "cpu")


def test_units_are_all_conditions() -> None:
    check_units(NAME, paper=12, smoke=2)
    units = find_recipe(NAME).units("paper")
    assert all(unit.settings["seeds"] == [0, 1, 2, 3, 4] for unit in units)
    assert {(unit.settings["slots"], unit.settings["sparsity"]) for unit in units} == {
        (True, None), (False, 0.99), (False, 0.9),
    }  # fmt: skip


def test_any_part_can_be_shown() -> None:
    recipe = find_recipe(NAME)
    assert not recipe.tables("paper", [])
    assert not list(recipe.figures("paper", []))
    scales: tuple[tuple[Scale, str], ...] = (("paper", "mnist"), ("smoke", "digits"))
    for scale, data in scales:
        units = recipe.units(scale)[:3]
        finished = [made_up(unit) for unit in units]
        assert [len(table.wide()) for table in recipe.tables(scale, finished)] == [2 * len(units)] * 3
        names = [name for name, _ in recipe.figures(scale, finished)]
        assert names == ["agreement", "n-cuts", f"units-by-owner-{data}"]


def test_tables_say_in_words_what_was_found() -> None:
    recipe = find_recipe(NAME)
    owner, cuts, favourite = recipe.tables("paper", [made_up(recipe.units("paper")[3])])
    assert "slots, mlp:510-250, without inputs: specialists are the clusters. Agreement 1.00" in owner.note
    assert "slots, mlp:510-250, whole: specialists mostly show as clusters. Agreement 0.50" in owner.note
    assert "beyond all permutations in 5 of 5 networks" in owner.note
    wide = owner.wide().set_index("graph")
    assert wide.loc["without inputs", "agreement"] == "1.000 (0.000)"
    assert wide.loc["whole", "p ≤ 0.005"] == "0/5"
    assert wide.loc["whole", "units"] == "60/760"
    assert cuts.wide()["owners"].tolist() == ["4.000 (0.000)"] * 2
    assert favourite.wide()["generalist with favourites"].tolist() == ["0.100 (0.000)"] * 2


def test_a_unit_belongs_to_the_part_with_most_of_the_weight_at_it() -> None:
    one = [np.array([[3.0, 0, 0], [0, 1, 0]]), np.array([[0.0, -1], [2, 0]])]
    two = [np.array([[0.0, 0, 0], [0, -4, 0]]), np.array([[1.0, 0], [0, 0]])]
    inputs, hidden, outputs = weight_shares([one, two])
    np.testing.assert_allclose(inputs, [[1, 0.2, 0], [0, 0.8, 0]])
    np.testing.assert_allclose(hidden, [[5 / 6, 2 / 6], [1 / 6, 4 / 6]])
    np.testing.assert_allclose(outputs.sum(0), 1)
    assert [members.tolist() for members in owners([inputs, hidden, outputs])] == [[0, 1, -1], [0, 1], [0, 1]]


def test_a_unit_responds_most_to_its_favourite_class() -> None:
    network = nn.Sequential(nn.Linear(2, 3, bias=False), nn.ReLU(), nn.Linear(3, 2))
    with torch.no_grad():
        network[0].weight[:] = torch.tensor([[1.0, 0], [0, 1], [-1, -1]])  # type: ignore[operator]
    split = Split(torch.tensor([[5.0, 1], [1, 3], [1, 3]]), torch.tensor([1, 0, 0]))
    assert [members.tolist() for members in favourites(network, split, 2)] == [[1, 0], [1, 0, -1], [0, 1]]


@settings(max_examples=30)
@given(
    st.lists(st.integers(-1, 2), min_size=24, max_size=24),
    st.lists(st.integers(0, 2), min_size=24, max_size=24),
)
def test_agreement_is_the_rand_index_of_units_that_have_clusters(
    clusters: list[int], members: list[int]
) -> None:
    labels, owner, layer = np.array(clusters), np.array(members), np.repeat([0, 1], 12)
    if min((labels[layer == number] >= 0).sum() for number in (0, 1)) < 2:
        return
    found = agreement(labels, owner, layer, permutations=9)
    known = labels >= 0
    assert found.all == pytest.approx(adjusted_rand_score(owner[known], labels[known]))
    first = known & (layer == 0)
    assert found.layers[0] == pytest.approx(adjusted_rand_score(owner[first], labels[first]))
    assert 0.1 <= found.p_value <= 1


def test_permutations_stay_within_layers() -> None:
    # Clusters that are the layers agree with owners that are the layers, and so does every permutation.
    layer = np.repeat([0, 1], 10)
    found = agreement(layer, layer, layer, permutations=19)
    assert (found.all, found.permuted, found.p_value) == (1, 1, 1)


def test_planted_blocks_are_found() -> None:
    rng = np.random.default_rng(0)
    owner = [np.arange(size) * 3 // size for size in (12, 18, 9, 3)]
    matrices = [
        np.where(after[:, None] == before, 1.0, 0.02) * rng.uniform(0.5, 1, (len(after), len(before)))
        for before, after in pairwise(owner)
    ]
    found = cluster_network(matrices, {"owner": owner}, COUNTS)
    for view in VIEWS:
        own = found[view]["owner"]
        assert (own["agreement"], own["layers"]) == (1, [1, 1])
        assert own["p_value"] == pytest.approx(1 / 50)
        assert abs(own["permuted"]) < 0.1
        assert own["copies"] < 0.3
        assert own["ncut"] == pytest.approx(found[view]["ncut"])
        assert np.count_nonzero(own["counts"]) == 3
        assert found[view]["units"] == 27


@pytest.mark.slow
def test_specialists_in_slots_show_as_clusters_and_others_do_not() -> None:
    finished = run_smoke(NAME)
    assert [len(table.wide()) for table in find_recipe(NAME).tables("smoke", finished)] == [4] * 3
    slots, pruned = (one.row["composite"] for one in finished)
    for view, least in (("whole", 0.2), ("without inputs", 0.8)):
        owner = slots[view]["owner"]
        assert all(value > least for value in owner["agreement"])
        assert all(p == pytest.approx(1 / 50) for p in owner["p_value"])
        assert fmean(owner["copies"]) < 0.1
        assert fmean(pruned[view]["owner"]["agreement"]) < 0.15
    # Slots come from where weights are, so copies that keep the pattern have the same clusters.
    assert fmean(slots["without inputs"]["owner"]["pattern copies"]) > 0.7
    assert all(share == pytest.approx(1) for share in slots["purity"])
    assert all(share < 0.5 for share in pruned["purity"])


def test_stability_at_smoke_scale() -> None:
    recipe, finished = find_recipe("stability"), run_smoke("beyond/stability")
    (table,) = recipe.tables("smoke", finished)
    assert isinstance(table, Comparison)
    found = {cell.metric: cell.ours for cell in table.cells if cell.labels["use"] == "all" and cell.ours}
    assert (found["single"].of, found["of four seeds"].of) == (2, 1)
    assert 0 < found["share of votes"].value <= 1
    assert set(dict(recipe.figures("smoke", finished))) == {"stability"}
    # What is shared with `reuse` is done once.
    assert {unit.key for unit in recipe.units("paper")} & {u.key for u in find_recipe("reuse").units("paper")}


def test_trials_of_before_have_no_consensus() -> None:
    recipe = find_recipe("stability")
    old = [
        Finished(unit, {"trials": [{"full": {"whole": True}}], "epochs": 3}, 1.0, "cpu")
        for unit in recipe.units("paper")
    ]
    (table,) = recipe.tables("paper", old)
    assert isinstance(table, Comparison)
    assert not any(cell.ours for cell in table.cells)
