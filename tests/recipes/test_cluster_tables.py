"""Recipes that compare networks of several conditions: their units, and their tables beside the published ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dovetail.engine.results_file import read_results
from dovetail.recipes import Unit, find_recipe, finished_units, read_published
from dovetail.recipes.cluster.promoted import CHOSEN, chosen_weight
from dovetail.recipes.recipe import Scale
from dovetail.recipes.unit import canonical

from .cluster_rows import made_up

TABLES = {
    "mlp": ("A.5", "A.6"),
    "halves": ("A.7",),
    "cnn": ("A.8", "A.9"),
    "vgg": ("A.10",),
    "imagenet": ("A.11",),
    "stack": ("A.12",),
    "init": ("A.13", "A.14", "A.15"),
    "regulariser": ("1",),
}
SHAPE = {
    # Units at the paper's scale, and how many networks they train.
    "mlp": (10, 50),
    "halves": (4, 20),
    "cnn": (8, 40),
    "vgg": (25, 25),
    "stack": (4, 20),
    "init": (13, 45),
    "regulariser": (16, 115),
}
FIGURES = {"imagenet": ["imagenet"], "cnn": ["cnn-unpruned", "cnn-pruned", "cnn-unpruned-detail"]}
SCALES: tuple[Scale, ...] = ("smoke", "paper")


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("scale", SCALES)
def test_units_are_unique_and_plain(name: str, scale: Scale) -> None:
    units = find_recipe(name).units(scale)
    assert len(set(units)) == len(units) > 0
    for unit in units:
        assert json.loads(canonical(unit.settings)) == unit.settings
    if scale == "smoke":
        assert all("digits" in unit.settings.get("data", "digits") for unit in units)


@pytest.mark.parametrize(("name", "shape"), SHAPE.items())
def test_the_papers_scale_has_all_networks(name: str, shape: tuple[int, int]) -> None:
    units = find_recipe(name).units("paper")
    assert (len(units), sum(len(unit.settings["seeds"]) for unit in units)) == shape


@pytest.mark.parametrize(("name", "printed"), TABLES.items())
def test_every_published_cell_is_there(name: str, printed: tuple[str, ...]) -> None:
    recipe = find_recipe(name)
    tables = recipe.tables("paper", [made_up(recipe.units("paper")[0])])
    shown = [
        str(cell.published.value)
        for table in tables
        for cell in getattr(table, "cells", ())
        if cell.published is not None
    ]
    wanted = [
        str(float(row["fraction"].partition("/")[0] or row["value"]))
        for row in read_published("clusterability_tables")
        if row["table"] in printed
    ]
    if name == "init":  # shows the networks of other tables that start in the ordinary way as well
        wanted += [
            str(float(row["fraction"].partition("/")[0] or row["value"]))
            for row in read_published("clusterability_tables")
            if row["table"] in ("A.5", "A.6", "A.8", "A.9") and row["regularisation"] == "none"
        ]
    assert sorted(shown) == sorted(wanted)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("scale", SCALES)
def test_finished_units_fill_all_cells(name: str, scale: Scale) -> None:
    recipe = find_recipe(name)
    tables = recipe.tables(scale, [made_up(unit) for unit in recipe.units(scale)])
    assert tables
    for table in tables:
        frame = table.frame[table.frame["metric"] != "top-1 accuracy"]
        assert frame["ours"].notna().all()
        assert len(frame)
        if scale == "smoke":
            assert frame["published"].isna().all()
        assert "n-cut" in table.to_markdown()


@pytest.mark.parametrize("name", TABLES)
def test_figures_are_made_of_whatever_is_there(name: str) -> None:
    recipe = find_recipe(name)
    assert not list(recipe.figures("paper", []))
    units = recipe.units("paper")
    for finished in ([made_up(units[0])], [made_up(unit) for unit in units]):
        figures = dict(recipe.figures("paper", finished))
        assert list(figures) == FIGURES.get(name, [f"{name}-unpruned", f"{name}-pruned"])
        for figure in figures.values():
            assert figure.axes[0].get_ylabel().startswith("n-cut")


@pytest.mark.parametrize("name", TABLES)
def test_nothing_finished_gives_no_tables(name: str) -> None:
    assert not find_recipe(name).tables("paper", [])


@pytest.mark.parametrize(
    ("name", "right", "slip"),
    [
        ("mlp", "l2", "l2-slip"),
        ("polynomials", "l2", "l2-slip"),
        ("regulariser", "regularised", "regularised-slip"),
    ],
)
def test_what_a_slip_gave_is_published_beside_it(name: str, right: str, slip: str) -> None:
    recipe = find_recipe(name)
    units = recipe.units("paper")
    with_slips = [unit for unit in units if "slips" in unit.settings]
    assert all(
        {key: value for key, value in unit.settings.items() if key != "slips"}
        in [other.settings for other in units]
        for unit in with_slips
    ), "the same networks without it stand beside"
    table = recipe.tables("paper", [made_up(unit) for unit in units])[0]
    assert slip in table.note
    frame = table.frame
    assert frame[frame["condition"] == right]["published"].isna().all()
    assert frame[(frame["condition"] == slip) & (frame["metric"] == "n-cut")]["published"].notna().all()


def test_tiny_weights_are_left_out_where_weights_decay() -> None:
    for name in ("mlp", "polynomials", "cnn", "vgg", "regulariser", "init", "k", "topology"):
        for unit in find_recipe(name).units("paper"):
            decays = bool(unit.settings["l1"] or unit.settings["l2"])
            assert all(
                made.get("drop_below") == (1e-12 if decays else None) for made in unit.settings["measures"]
            )
            assert (unit.before is not None) == decays


def test_results_of_before_are_shown_until_units_are_done_again() -> None:
    for name in ("mlp", "vgg", "mixtures"):
        recipe = find_recipe(name)
        kept = [made_up(Unit(unit.work, unit.before or unit.settings)) for unit in recipe.units("paper")]
        found = finished_units(recipe.units("paper"), {one.unit.key: one for one in kept})
        assert len(found) == len(kept)
        tables = recipe.tables("paper", found)
        assert all(table.frame["ours"].notna().all() for table in tables)
        assert all("†" in table.to_markdown() for table in tables)


def test_weights_of_the_penalty_are_chosen_on_networks_that_are_not_reported() -> None:
    by_condition: dict[str, set[int]] = {}
    table, _, choice, _ = find_recipe("regulariser").lines("paper")
    for line in choice.lines:
        by_condition.setdefault(line.labels["condition"], set()).update(line.units[0].settings["seeds"])
    assert set(by_condition) == set(CHOSEN)
    for line in table.lines:
        seeds = line.units[0].settings["seeds"]
        assert len(seeds) == 10
        assert by_condition.get(line.labels["condition"], set()).isdisjoint(seeds)


def test_the_weight_is_that_of_the_lowest_ncut_among_those_that_keep_the_accuracy() -> None:
    def row(ncut: float, accuracy: float) -> dict[str, Any]:
        measures = [{"ncut": [0.0, 0.0]}, {"ncut": [ncut - 1, ncut + 1]}]
        return {"pruned": {"measures": measures, "train": {"accuracy": [accuracy - 0.1, accuracy + 0.1]}}}

    assert chosen_weight({0.05: row(6.0, 0.80), 0.1: row(5.0, 0.795), 0.2: row(4.0, 0.70)}) == 0.1
    assert chosen_weight({0.05: row(3.0, 0.80), 0.1: row(5.0, 0.795)}) == 0.05


def test_reported_weights_are_those_that_were_chosen() -> None:
    """Once the choice is run; until then the tables say that it is to be made."""
    results = read_results(Path(__file__).parents[2] / "results/regulariser/results.jsonl")
    table, _, choice, _ = find_recipe("regulariser").lines("paper")
    for name in CHOSEN:
        (reported,) = {
            line.units[0].settings["penalty"] for line in table.lines if line.labels["condition"] == name
        }
        units = [line.units[0] for line in choice.lines if line.labels["condition"] == name]
        assert reported in [unit.settings["penalty"] for unit in units]
        rows = {unit.settings["penalty"]: results[unit.key].row for unit in units if unit.key in results}
        if len(rows) == len(units):
            assert chosen_weight(rows) == reported, f"put the chosen weight into _PENALTIES[{name!r}]"


def test_recipes_share_networks() -> None:
    mlp, cnn, init = (set(find_recipe(name).units("paper")) for name in ("mlp", "cnn", "init"))
    assert len(mlp & init) == len(cnn & init) == 2


def test_conditions_are_the_papers() -> None:
    by_condition = {
        (unit.settings["dropout"], unit.settings["l1"], unit.settings["l2"])
        for unit in find_recipe("vgg").units("paper")
    }
    assert by_condition == {(0, 0, 0), (0.5, 0, 0), (0, 5e-5, 0), (0, 0, 5e-4), (0.5, 0, 5e-4)}
    penalties = {
        (unit.settings["penalty"], unit.settings["penalty_k"])
        for unit in find_recipe("regulariser").units("paper")
    }
    assert penalties == {(0, 4), (0.05, 4), (0.1, 4), (0.2, 4), (0.05, 12), (0.1, 12), (0.2, 12)}
    assert {unit.settings["init_beta"] for unit in find_recipe("init").units("paper")} == {1, 0.6, 0.8}
