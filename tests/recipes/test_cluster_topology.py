"""Shuffled copies that keep a pruned network's topology."""

from __future__ import annotations

from statistics import fmean

import pytest

from dovetail.recipes import find_recipe

from .cluster_rows import made_up
from .recipe_checks import check_any_part, check_units
from .smoke import run_smoke


def test_units_are_the_papers() -> None:
    check_units("topology", paper=4, smoke=2)
    for unit in find_recipe("topology").units("paper"):
        assert [made["shuffle"] for made in unit.settings["measures"]] == ["layer", "layer-nonzero"]
        assert len(unit.settings["seeds"]) == 5


def test_tables_show_both_kinds_of_copies_beside_the_same_networks_published_elsewhere() -> None:
    finished = [made_up(unit, 8.0) for unit in find_recipe("topology").units("paper")]
    finished[0].row["pruned"]["measures"][1] |= {"dist_ncut": [5.5] * 5, "p_value": [1 / 51] * 5}
    (table,) = find_recipe("topology").tables("paper", finished)
    wide = table.wide()
    assert wide["same pattern"][0] == "5.500 (0.100)"
    assert wide["same pattern, p < 0.02"][0] == "5/5"
    assert wide["shuffled"][0] == "6.000 (0.100)"
    assert wide["n-cut published"].tolist() == ["8.880", "8.350", "8.687", "8.110"]
    assert wide["n-cut Δ"][0] == f"{8.2 - 8.880:+.3f}"


def test_any_part_can_be_shown() -> None:
    check_any_part("topology", made_up, figures=["topology"])


@pytest.mark.slow
def test_with_dropout_the_topology_alone_makes_networks_more_clusterable() -> None:
    finished = run_smoke("topology")
    (table,) = find_recipe("topology").tables("smoke", finished)
    assert len(table.wide()) == 2
    shuffled, pattern = finished[1].row["pruned"]["measures"]
    for own, all_shuffled, spread in zip(
        pattern["dist_ncut"], shuffled["dist_ncut"], shuffled["dist_sd"], strict=True
    ):
        assert own < all_shuffled - spread
    assert fmean(shuffled["z_score"]) < -2
