"""Networks before they are trained."""

from __future__ import annotations

from statistics import fmean

import pytest

from dovetail.recipes import Finished, Unit, find_recipe

from .cluster_rows import made_up
from .recipe_checks import check_any_part, check_units
from .smoke import run_smoke


def untrained(unit: Unit) -> Finished:
    return Finished(
        unit, {"initial": {"measures": made_up(unit, 10.0).row["pruned"]["measures"]}}, 1.0, "cpu"
    )


def test_units_are_the_papers() -> None:
    check_units("random-init", paper=30, smoke=2)
    units = find_recipe("random-init").units("paper")
    for net in ("mlp:256-256-256-256", "small-cnn", "vgg16"):
        seeds = [seed for unit in units if unit.settings["net"] == net for seed in unit.settings["seeds"]]
        assert seeds == list(range(100))
    assert all(unit.settings["stages"] == ["initial"] for unit in units)


def test_the_range_stands_beside_that_of_the_text() -> None:
    units = find_recipe("random-init").units("paper")
    (table,) = find_recipe("random-init").tables("paper", [untrained(unit) for unit in units[:12]])
    wide = table.wide()
    assert wide["networks"].tolist() == ["100/100", "20/100", "–"]
    assert wide["highest"].tolist() == ["10.900", "10.900", "–"]
    assert wide["highest published"].tolist() == ["10.400", "10.950", "8.630"]
    assert wide["lowest Δ"][0] == f"{10.0 - 10.2:+.3f}"


def test_any_part_can_be_shown() -> None:
    check_any_part("random-init", untrained, figures=["random-init"])


@pytest.mark.slow
def test_untrained_networks_are_as_clusterable_as_their_copies() -> None:
    finished = run_smoke("random-init")
    (table,) = find_recipe("random-init").tables("smoke", finished)
    assert len(table.wide()) == 2
    for one in finished:
        (found,) = one.row["initial"]["measures"]
        assert len(found["ncut"]) == 10
        assert abs(fmean(found["ncut"]) - fmean(found["dist_ncut"])) < fmean(found["dist_sd"])
