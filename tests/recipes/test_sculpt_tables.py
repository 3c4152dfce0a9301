"""Tables and figures of Neural Sculpting's recipes, from made-up results."""

from __future__ import annotations

import pytest

from dovetail.recipes import Comparison, find_recipe, read_published
from dovetail.recipes.recipe import Recipe
from dovetail.recipes.sculpt.digits import crossing
from dovetail.recipes.tables import Cell

from .made_up_trials import made_up

NAMES = (
    "structure", "validation", "reuse", "overlap", "depth", "two-digits", "hierarchy", "rates", "clustering-choices",
)  # fmt: skip
FIGURES = {
    "structure": {"path-products", "p-values", "units"},
    "depth": {"functions", "hierarchy"},
    "rates": {"input-separable", "reused", "input-separable-and-reused", "single"},
}


def _recipe(name: str) -> Recipe:
    return find_recipe(f"sculpt/{name}")


def _cells(name: str, **options: int | None) -> list[Cell]:
    recipe = _recipe(name)
    tables = recipe.tables("paper", made_up(recipe.units("paper"), **options))  # type: ignore[arg-type]
    found = []
    for table in tables:
        assert isinstance(table, Comparison)
        found += list(table.cells)
    return found


def _printed(name: str, **labels: object) -> list[float]:
    rows = read_published("sculpting_success")
    wanted = {key: str(value) for key, value in labels.items()}
    return sorted(
        float(row["successes"]) for row in rows if all(row[key] == value for key, value in wanted.items())
    )


@pytest.mark.parametrize("name", NAMES)
def test_nothing_finished_gives_no_rows(name: str) -> None:
    recipe = _recipe(name)
    assert recipe.tables("paper", []) == []
    assert list(recipe.figures("paper", [])) == []


@pytest.mark.parametrize("name", NAMES)
def test_one_finished_unit_is_shown_with_all_rows_of_its_scale(name: str) -> None:
    recipe = _recipe(name)
    one = made_up(recipe.units("paper")[:1])
    everything = made_up(recipe.units("paper"))
    rows = {table.title: len(table.wide()) for table in recipe.tables("paper", everything)}
    begun = {table.title: len(table.wide()) for table in recipe.tables("paper", one)}
    assert begun
    assert begun.items() <= rows.items()
    assert list(recipe.figures("paper", one))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_was_published_about_networks_in_small(name: str) -> None:
    recipe = _recipe(name)
    for table in recipe.tables("smoke", made_up(recipe.units("smoke"))):
        assert isinstance(table, Comparison)
        assert table.cells
        assert all(cell.published is None for cell in table.cells)


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_made(name: str) -> None:
    recipe = _recipe(name)
    figures = dict(recipe.figures("paper", made_up(recipe.units("paper"))))
    assert set(figures) == FIGURES.get(name, {"success"})  # made-up networks cannot be drawn
    for figure in figures.values():
        figure.canvas.draw()


@pytest.mark.parametrize(
    ("name", "figures"),
    [("validation", ["7"]), ("reuse", ["8"]), ("overlap", ["10"]), ("depth", ["12a", "12b"]), ("hierarchy", ["13"])],
)  # fmt: skip
def test_every_published_bar_stands_beside_ours(name: str, figures: list[str]) -> None:
    published = [cell for cell in _cells(name) if cell.published is not None]
    printed = sorted(successes for figure in figures for successes in _printed(name, figure=figure))
    assert sorted(cell.published.value for cell in published if cell.published) == printed
    for cell in published:
        assert cell.ours is not None
        assert cell.published is not None
        assert cell.ours.of == cell.published.of
        assert cell.difference == pytest.approx(3 / 4 - cell.published.share)


def test_validation_finds_the_bar_of_its_own_condition() -> None:
    (cell,) = (
        cell
        for cell in _cells("validation")
        if cell.metric == "success"
        and cell.labels["task"] == "[4,1,2,16]"
        and cell.labels["hidden layers"] == 3
    )
    assert str(cell.ours) == "9/12"
    assert str(cell.published) == "11/12"


def test_table_1_stands_beside_dense_networks_only() -> None:
    cells = [cell for cell in _cells("structure") if cell.published is not None]
    assert {cell.labels["networks"] for cell in cells} == {"dense"}
    assert [cell.published.value for cell in cells if cell.published] == [1] * 3 + [0] * 6
    assert [cell.difference for cell in cells] == [-0.25] * 3 + [0.75] * 6


def test_units_that_carry_are_averaged_by_layer() -> None:
    cells = [cell for cell in _cells("structure") if cell.metric == "layer 2"]
    assert len(cells) == 9
    assert {cell.ours.value for cell in cells if cell.ours} == {5.0}  # 3, 4, 5, 8


def test_every_cell_of_tables_2_and_3_is_there() -> None:
    recipe = _recipe("rates")
    short, full = recipe.tables("paper", made_up(recipe.units("paper")))
    assert isinstance(short, Comparison)
    assert isinstance(full, Comparison)
    rows = [row for row in read_published("sculpting_tables") if row["table"] in "23"]
    of = {
        metric: [cell for cell in full.cells if cell.metric == metric] for metric in ("success", "all learn")
    }
    assert len(of["success"]) == len(rows) == 264
    rates = sorted(cell.published.share for cell in of["success"] if cell.published)
    assert rates == sorted(float(row["success"]) for row in rows if row["success"] not in ("x", ""))
    crosses = [cell for cell in of["all learn"] if cell.published and cell.published.value == 0]
    assert len(crosses) == sum(row["success"] == "x" for row in rows) == 40
    assert all(cell.difference == 1 for cell in crosses)
    assert len(short.wide()) == 12


def test_a_cross_of_ours_has_no_success_rate() -> None:
    success, learn = (
        [cell for cell in _cells("rates", epochs=None) if cell.metric == metric]
        for metric in ("success", "all learn")
    )
    assert all(cell.ours is None for cell in success)
    assert all(cell.ours is not None and cell.ours.value == 0 for cell in learn)


def test_two_digits_are_compared_over_all_depths() -> None:
    cells = [cell for cell in _cells("two-digits") if cell.published is not None]
    assert [(cell.metric, str(cell.ours), str(cell.published)) for cell in cells] == [
        ("two modules", "27/36", "33/36"),
        ("as planted", "27/36", "33/36"),
    ]


def test_crossing_is_the_share_of_path_products_to_the_other_digit() -> None:
    assert crossing({"separability": {"own": [3.0, 1.0], "other": [1.0, 3.0]}}) == 0.5


def test_clustering_choices_count_all_networks() -> None:
    cells = _cells("clustering-choices")
    assert len(cells) == 40
    assert {str(cell.ours) for cell in cells} == {"108/144"}
    assert {cell.metric: cell.published.value for cell in cells if cell.published} == {
        "modularity metric": 0.99,
        "silhouette": 0.99,
        "CH index": 0.49,
        "DB index": 0.49,
    }
