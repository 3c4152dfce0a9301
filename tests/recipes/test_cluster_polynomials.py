"""Networks that compute polynomials."""

from __future__ import annotations

from statistics import fmean

import pytest

from dovetail.recipes import find_recipe

from .cluster_rows import made_up
from .recipe_checks import check_any_part, check_published, check_units
from .smoke import run_smoke


def test_units_are_the_papers() -> None:
    check_units("polynomials", paper=4, smoke=4)
    units = find_recipe("polynomials").units("paper")
    assert [(unit.settings["l1"], unit.settings["l2"], unit.settings.get("slips")) for unit in units] == [
        (0, 0, None), (5e-5, 0, None), (0, 5e-5, None), (0, 5e-5, ["l1-first-layer"])
    ]  # fmt: skip
    assert {len(unit.settings["seeds"]) for unit in units} == {5}


def test_tables_show_ours_and_all_that_was_published() -> None:
    finished = [made_up(unit) for unit in find_recipe("polynomials").units("paper")]
    check_published("polynomials", ("A.19",), finished)
    frame = find_recipe("polynomials").tables("paper", finished)[0].frame
    loss = frame[(frame["condition"] == "l1") & (frame["pruned"] == "no") & (frame["metric"] == "train loss")]
    assert loss["difference"].item() == pytest.approx(0.3 - 0.350)


def test_any_part_can_be_shown() -> None:
    check_any_part("polynomials", made_up, figures=["polynomials-unpruned", "polynomials-pruned"])


@pytest.mark.slow
def test_networks_that_compute_polynomials_are_clusterable() -> None:
    finished = run_smoke("polynomials")
    (table,) = find_recipe("polynomials").tables("smoke", finished)
    assert len(table.wide()) == 8
    for one in finished:
        found = one.row["pruned"]["measures"][0]
        assert fmean(found["z_score"]) < -2
        assert fmean(found["ncut"]) < fmean(one.row["unpruned"]["measures"][0]["ncut"])
    none, l1, _, _ = (fmean(one.row["unpruned"]["train"]["loss"]) for one in finished)
    assert none < l1
