"""Clusters and function: what is measured of networks that are trained here, and how it is summed up."""

from __future__ import annotations

import pytest

from dovetail.engine.costs import unit_seconds
from dovetail.recipes import Comparison, Finished, Unit, find_recipe

from .recipe_checks import check_any_part, check_units
from .smoke import run_smoke

NAME = "function"


def made_up(unit: Unit) -> Finished:
    """Return a finished unit: clusters that explain a little more than chance in one of two networks."""
    found = [
        {
            "of": kind, "reliability": 0.8,
            "by_k": {
                str(k): {
                    "units": 10, "by_layers": 0.2, "by_clusters": 0.3, "by_both": 0.5, "within": 0.4, "within_sd": 0.01,
                    "p_value": p, "p_anywhere": 0.01, "agreement": 0.1, "chance_agreement": 0.0, "p_agreement": 0.2,
                    "share": 0.5,
                }
                for k in unit.settings["k"]
            },
        }
        for kind in ("units", "heads")
        for p in (0.01, 0.5)
    ]  # fmt: skip
    return Finished(unit, {"accuracies": [0.9, 0.8], "found": [found[::2], found[1::2]]}, 1.0, "cpu")


def test_units_are_all_networks() -> None:
    check_units(NAME, paper=3, smoke=2)
    assert all(0 < unit_seconds(unit, "cpu") < 3600 for unit in find_recipe(NAME).units("paper"))


def test_any_part_can_be_shown() -> None:
    check_any_part(NAME, made_up, figures=["explained"])
    (table,) = find_recipe(NAME).tables("paper", [made_up(unit) for unit in find_recipe(NAME).units("paper")])
    assert isinstance(table, Comparison)
    wide = table.wide()
    assert set(wide["p"]) == {"1/2"}
    assert set(wide["p anywhere"]) == {"2/2"}
    assert set(wide["accuracy"]) == {"0.850 (0.071)"}


@pytest.mark.slow
def test_smoke_scale() -> None:
    for one in run_smoke(NAME):
        for network in one.row["found"]:
            for kind in network:
                for found in kind["by_k"].values():
                    assert found is None or 0 <= found["by_layers"] <= found["by_both"] <= 1
                    assert found is None or 0 < found["p_value"] <= 1
