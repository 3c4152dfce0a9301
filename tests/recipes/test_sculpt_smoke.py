"""All recipes of Neural Sculpting at smoke scale: their shape, and one finding of the paper each."""

from __future__ import annotations

from statistics import fmean

import pytest

from dovetail.recipes import Comparison, Finished, find_recipe
from dovetail.recipes.tables import Cell

from .smoke import run_smoke

pytestmark = pytest.mark.slow


def _smoke(name: str, columns: list[str], figures: set[str]) -> tuple[list[Finished], list[Cell]]:
    """Run a recipe; check the columns of its last table and the names of its figures; return all cells."""
    recipe, finished = find_recipe(f"sculpt/{name}"), run_smoke(f"sculpt/{name}")
    tables = recipe.tables("smoke", finished)
    assert list(tables[-1].wide().columns) == columns
    made = dict(recipe.figures("smoke", finished))
    assert set(made) == figures
    for figure in made.values():
        figure.canvas.draw()
    return finished, [cell for table in tables if isinstance(table, Comparison) for cell in table.cells]


def _share(cells: list[Cell], metric: str, **labels: object) -> float:
    """Return our value in the one cell with these labels; spaces in names are written as underscores."""
    wanted = {name.replace("_", " "): value for name, value in labels.items()}
    (cell,) = (
        cell
        for cell in cells
        if cell.metric == metric and all(cell.labels.get(name) == value for name, value in wanted.items())
    )
    assert cell.ours is not None
    return cell.ours.share


def test_structure_shows_in_pruned_networks_and_not_in_dense_ones() -> None:
    _, cells = _smoke(
        "structure", ["networks", "width", "layer 1", "layer 2"], {"path-products", "p-values", "units"}
    )
    for kind in ("edge-pruned", "sculpted"):
        for depth in (1, 2):
            assert _share(cells, "both reject", networks=kind, hidden_layers=depth) == 1
    assert _share(cells, "both reject", networks="dense", hidden_layers=2) < 1
    for layer in ("layer 1", "layer 2"):
        dense, sculpted = (_share(cells, layer, networks=kind) for kind in ("dense", "sculpted"))
        assert dense > 1.5 * sculpted


def test_validation_finds_separable_inputs_at_every_depth_and_reuse_not_in_one_layer() -> None:
    columns = [
        "task",
        "structure",
        "hidden layers",
        "success",
        "some tied",
        "at its depth",
        "edges",
        "cells tied",
    ]
    _, cells = _smoke("validation", columns, {"success", "networks"})
    for depth in (1, 2):
        assert _share(cells, "success", task="[4,2,4]", hidden_layers=depth) == 1
    assert _share(cells, "success", task="[4,1,2,16]", hidden_layers=1) == 0
    assert _share(cells, "at its depth", task="[4,1,2,16]", hidden_layers=1) == 1


def test_reuse_needs_two_layers_and_helps() -> None:
    _, cells = _smoke(
        "reuse", ["use", "hidden layers", "success", "some tied", "edges"], {"success", "networks"}
    )
    success = {use: _share(cells, "success", use=use, hidden_layers=2) for use in (1, 8)}
    assert success[8] >= success[1]
    assert all(_share(cells, "success", use=use, hidden_layers=1) == 0 for use in (1, 8))


def test_overlap_of_inputs_keeps_functions_from_being_told_apart() -> None:
    _, cells = _smoke(
        "overlap",
        ["inputs shared", "use", "inputs", "outputs", "hidden", "inputs, any 3/1/1"]
        + [f"{name}, some tied" for name in ("inputs", "outputs", "hidden")],
        {"success", "networks"},
    )
    for metric in ("inputs", "outputs", "hidden"):
        assert _share(cells, metric, inputs_shared=0) == 1
    for metric in ("outputs", "hidden"):
        assert _share(cells, metric, inputs_shared=4) < 1


def test_depth_two_leaves_the_outputs_in_one_module() -> None:
    figures = {"functions", "hierarchy", "networks"}
    _, cells = _smoke("depth", ["use", "hidden layers", "success", "some tied", "edges"], figures)
    found = {name: _share(cells, name, hidden_layers=2) for name in ("inputs", "intermediate", "outputs")}
    assert found == {"inputs": 1, "intermediate": 1, "outputs": 0}
    assert _share(cells, "inputs", hidden_layers=3) == 1


def test_two_digits_part_ways() -> None:
    columns = ["hidden layers", "two modules", "as planted", "inputs", "outputs", "crossing", "edges"]
    _, cells = _smoke("two-digits", columns, {"success", "networks"})
    assert _share(cells, "crossing", hidden_layers="all") < 0.3  # ½ in a dense network


def test_hierarchy_does_not_separate_inputs_in_a_shallow_network() -> None:
    columns = ["hidden layers", "inputs", "outputs", "middle", "learned", "accuracy", "edges"]
    finished, cells = _smoke("hierarchy", columns, {"success", "networks"})
    assert _share(cells, "learned") == 1
    assert _share(cells, "inputs") == 0
    trial = finished[0].row["trials"][0]
    largest = max((module["inputs"] for module in trial["modules"]), key=len)
    assert 0.25 < fmean(pixel % 16 < 8 for pixel in largest) < 0.75  # of the left digit


def test_rates_that_are_too_small_do_not_learn_and_others_find_the_modules() -> None:
    columns = ["structure", "hidden layers", "batch size", "lr", "success", "all learn", "epochs"]
    _, cells = _smoke("rates", columns, {"input-separable"})
    for batch_size in (4, 16):
        assert _share(cells, "all learn", batch_size=batch_size, lr="0.005") == 0
        assert _share(cells, "success", batch_size=batch_size, lr="0.05") == 1


def test_clustering_choices_that_the_paper_rejects_fail() -> None:
    columns = ["linkage", "distance", "modularity metric", "silhouette", "CH index", "DB index"]
    _, cells = _smoke("clustering-choices", columns, {"success"})
    found = {
        cell.metric: cell.ours.share for cell in cells if cell.labels["linkage"] == "average" and cell.ours
    }
    for good in ("modularity metric", "silhouette"):
        for bad in ("CH index", "DB index"):
            assert found[good] >= found[bad] + 0.25  # the tasks with separable inputs
