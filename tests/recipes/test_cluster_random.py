"""Networks on random images."""

from __future__ import annotations

from statistics import fmean

import pytest

from dovetail.recipes import find_recipe

from .cluster_rows import made_up
from .recipe_checks import check_any_part, check_published, check_units
from .smoke import run_smoke


def test_units_are_the_papers() -> None:
    check_units("random", paper=6, smoke=3)
    units = find_recipe("random").units("paper")
    assert {len(unit.settings["seeds"]) for unit in units} == {10}
    made = {
        (unit.settings["samples"], unit.settings["epochs"], unit.settings["pruning_epochs"]) for unit in units
    }
    assert made == {(60_000, 20, 20), (60_000, 1000, 20), (3000, 100, 100)}


def test_tables_show_ours_and_all_that_was_published() -> None:
    finished = [made_up(unit, 9.0) for unit in find_recipe("random").units("paper")]
    check_published("random", ("A.16", "A.17", "A.18"), finished)
    frame = find_recipe("random").tables("paper", finished)[2].frame
    ncut = frame[
        (frame["condition"] == "dropout") & (frame["pruned"] == "yes") & (frame["metric"] == "n-cut")
    ]
    assert ncut["difference"].item() == pytest.approx(9.45 - 8.82)


def test_any_part_can_be_shown() -> None:
    check_any_part("random", made_up, figures=["random-unpruned", "random-pruned"])


@pytest.mark.slow
def test_training_without_learning_makes_no_network_clusterable() -> None:
    finished = run_smoke("random")
    (table,) = find_recipe("random").tables("smoke", finished)
    assert len(table.wide()) == 6
    unlearnable, long, memorised = (one.row for one in finished)
    for row in (unlearnable, long):
        for stage in ("unpruned", "pruned"):
            assert all(p > 0.05 for p in row[stage]["measures"][0]["p_value"])
        assert fmean(row["pruned"]["measures"][0]["ncut"]) < fmean(row["unpruned"]["measures"][0]["ncut"]) - 1
        assert fmean(row["unpruned"]["train"]["accuracy"]) < 0.3
    assert fmean(memorised["unpruned"]["train"]["accuracy"]) > 0.95
    assert fmean(memorised["unpruned"]["test"]["accuracy"]) < 0.2
