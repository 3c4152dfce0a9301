"""Networks on mixtures of two kinds of images."""

from __future__ import annotations

from statistics import fmean

import pytest

from dovetail.recipes import find_recipe

from .cluster_rows import made_up
from .recipe_checks import check_any_part, check_published, check_units
from .smoke import run_smoke


def test_units_are_the_papers() -> None:
    check_units("mixtures", paper=8, smoke=4)
    units = find_recipe("mixtures").units("paper")
    assert {len(unit.settings["seeds"]) for unit in units} == {5}
    assert {unit.settings["dropout"] for unit in units} == {0, 0.5}


def test_networks_on_mnist_are_those_of_another_recipe() -> None:
    assert len(set(find_recipe("mixtures").units("paper")) & set(find_recipe("mlp").units("paper"))) == 2


def test_tables_show_ours_and_all_that_was_published() -> None:
    finished = [made_up(unit, 7.0) for unit in find_recipe("mixtures").units("paper")]
    check_published("mixtures", ("A.20", "A.21"), finished)
    frame = find_recipe("mixtures").tables("paper", finished)[1].frame
    ncut = frame[(frame["data"] == "lines-mnist-sep") & (frame["metric"] == "n-cut")]
    assert ncut["difference"].item() == pytest.approx(7.2 - 7.779)


def test_any_part_can_be_shown() -> None:
    check_any_part("mixtures", made_up, figures=["mixtures-unpruned", "mixtures-pruned"])


@pytest.mark.slow
def test_dropout_keeps_networks_from_counting_lines() -> None:
    finished = run_smoke("mixtures")
    (table,) = find_recipe("mixtures").tables("smoke", finished)
    assert len(table.wide()) == 4
    lines, _, apart, dropout = (fmean(one.row["unpruned"]["test"]["accuracy"]) for one in finished)
    assert dropout < lines - 0.15
    assert apart > 0.3  # lines of five classes can be learned, random images of the other five cannot
    for one in finished:
        ncuts = [fmean(one.row[stage]["measures"][0]["ncut"]) for stage in ("unpruned", "pruned")]
        assert ncuts[1] < ncuts[0] - 0.5
