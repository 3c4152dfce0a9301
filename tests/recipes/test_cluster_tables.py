"""Recipes that compare networks of several conditions: their units, and their tables beside the published ones."""

from __future__ import annotations

import json

import pytest

from dovetail.recipes import find_recipe, read_published
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
    "mlp": (8, 40),
    "halves": (4, 20),
    "cnn": (8, 40),
    "vgg": (25, 25),
    "stack": (4, 20),
    "init": (13, 45),
    "regulariser": (6, 60),
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


def test_recipes_share_networks() -> None:
    mlp, cnn, init = (set(find_recipe(name).units("paper")) for name in ("mlp", "cnn", "init"))
    assert len(mlp & init) == len(cnn & init) == 2


def test_conditions_are_the_papers() -> None:
    by_condition = {
        (unit.settings["dropout"], unit.settings["l1"], unit.settings["l2"])
        for unit in find_recipe("vgg").units("paper")
    }
    assert by_condition == {(0, 0, 0), (0.5, 0, 0), (0, 5e-5, 0), (0, 0, 5e-5), (0.5, 0, 5e-5)}
    penalties = {
        (unit.settings["penalty"], unit.settings["penalty_k"])
        for unit in find_recipe("regulariser").units("paper")
    }
    assert penalties == {(0, 4), (0.05, 4), (0.1, 4), (0.2, 4), (0.1, 12)}
    assert {unit.settings["init_beta"] for unit in find_recipe("init").units("paper")} == {1, 0.6, 0.8}
