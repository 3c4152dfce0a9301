"""The same networks, cut into other numbers of clusters."""

from __future__ import annotations

from statistics import fmean

import pytest

from dovetail.recipes import find_recipe

from .cluster_rows import made_up
from .recipe_checks import check_any_part, check_published, check_units
from .smoke import run_smoke


def test_units_are_the_papers() -> None:
    check_units("k", paper=8, smoke=2)
    units = find_recipe("k").units("paper")
    assert sum(len(unit.settings["seeds"]) for unit in units) == 40
    for unit in units:
        assert [(made["k"], made["shuffles"]) for made in unit.settings["measures"]] == [
            (4, 320), (7, 320), (10, 320), (2, 320),
        ]  # fmt: skip


def test_tables_show_ours_and_all_that_was_published() -> None:
    finished = [made_up(unit) for unit in find_recipe("k").units("paper")]
    check_published("k", ("A.1", "A.2", "A.3", "A.4"), finished)
    frame = find_recipe("k").tables("paper", finished)[0].frame
    row = frame[
        (frame["data"] == "mnist") & (frame["condition"] == "none") & (frame["metric"] == "p < 1/320")
    ]
    assert (row["ours"].item(), row["of"].item()) == (2, 10)  # two units of five networks
    assert row["difference"].item() == pytest.approx(0.2 - 0.7)


def test_any_part_can_be_shown() -> None:
    check_any_part("k", made_up, figures=["k"])


@pytest.mark.slow
def test_dropout_makes_networks_clusterable_into_four_clusters_and_more() -> None:
    finished = run_smoke("k")
    assert [len(table.wide()) for table in find_recipe("k").tables("smoke", finished)] == [2] * 4
    (*none, none_in_two), (*dropout, _) = (one.row["pruned"]["measures"] for one in finished)
    for without, with_dropout in zip(none, dropout, strict=True):
        assert fmean(with_dropout["ncut"]) < fmean(without["ncut"])
    assert fmean(z for found in dropout for z in found["z_score"]) < -1.5
    assert fmean(none_in_two["z_score"]) > -1.5
