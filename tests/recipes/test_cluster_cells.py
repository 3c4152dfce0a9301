"""Cells of the Clusterability paper's tables."""

from __future__ import annotations

import pytest

from dovetail.recipes import Finished, Quantity
from dovetail.recipes.cluster.cells import line_cells
from dovetail.recipes.cluster.lines import Line, row_of, units_of
from dovetail.recipes.cluster.networks_unit import networks_unit, per_seed
from dovetail.recipes.cluster.tables import tables_begun

from .cluster_rows import made_up

UNIT = networks_unit("mnist", "mlp:256-256-256-256")
PRINTED = {"table": "A.5", "network": "mlp", "dataset": "mnist", "regularisation": "none"}
LINE = Line((UNIT,), {"data": "mnist"}, PRINTED)


def test_ours_stands_beside_the_published() -> None:
    cells = line_cells([LINE], [made_up(UNIT, 9.0)])
    found = {(cell.labels["pruned"], cell.metric): cell for cell in cells}
    ncut = found["no", "n-cut"]
    assert ncut.ours is not None
    assert ncut.ours.value == pytest.approx(9.2)
    assert ncut.published == Quantity(10.024)
    assert ncut.difference == pytest.approx(9.2 - 10.024)
    assert found["yes", "shuffled"].ours == Quantity(6.0, 0.1)
    assert found["yes", "shuffled"].published == Quantity(9.183, 0.031)
    count = found["yes", "p < 0.02"]
    assert (count.ours, count.published) == (Quantity(1, of=5), Quantity(5, of=5))
    assert count.difference == pytest.approx(-0.8)
    assert found["yes", "test accuracy"].published == Quantity(0.984)


def test_unfinished_lines_have_published_values_only() -> None:
    cells = line_cells([LINE], [])
    assert all(cell.ours is None for cell in cells)
    assert sum(cell.published is not None for cell in cells) == 10


def test_counts_are_of_networks_that_beat_all_copies() -> None:
    unit = networks_unit("mnist", "mlp:256-256-256-256", measures=[{"shuffles": 320}])
    line = Line((unit,), {}, {"table": "A.1", "dataset": "mnist", "regularisation": "none"})
    cells = {
        cell.metric: cell
        for cell in line_cells([line], [made_up(unit)], threshold="1/320", stages=["pruned"])
    }
    count = cells["p < 1/320"]
    assert str(count.ours) == "1/5"
    assert str(count.published) == "7/10"


def test_losses_in_place_of_accuracies() -> None:
    line = Line((UNIT,), {}, {"table": "A.19", "regularisation": "none"})
    cells = {
        cell.metric: cell for cell in line_cells([line], [made_up(UNIT)], score="loss", stages=["pruned"])
    }
    assert cells["test loss"].ours is not None
    assert cells["test loss"].ours.value == pytest.approx(0.4)
    assert str(cells["test loss"].published) == "0.024"


def test_what_was_measured_otherwise_is_not_beside_the_published() -> None:
    cells = line_cells([LINE], [made_up(UNIT)], beside_published=False)
    assert all(cell.published is None and cell.ours is not None for cell in cells)


def test_networks_without_copies_have_no_counts() -> None:
    unit = networks_unit("digits", "mlp:32", measures=[{"shuffles": 0}])
    finished = made_up(unit)
    for name in ("dist_ncut", "dist_sd", "p_value", "z_score"):
        finished.row["pruned"]["measures"][0][name] = [None] * 5
    cells = {cell.metric: cell.ours for cell in line_cells([Line((unit,), {})], [finished], threshold="0.02")}
    assert cells["shuffled"] is None
    assert cells["p < 0.02"] is None
    assert cells["n-cut"] is not None


def test_units_of_one_seed_each_are_joined() -> None:
    units = tuple(per_seed(UNIT))
    finished = [made_up(unit, float(place)) for place, unit in enumerate(units)]
    row = row_of(Line(units, {}), finished[:4])
    assert row is not None
    assert row["pruned"]["measures"][0]["ncut"] == [0.0, 1.0, 2.0, 3.0]
    assert row["unpruned"]["test"]["accuracy"] == [0.8] * 4
    assert row_of(Line(units, {}), []) is None


def test_only_tables_of_the_scale_that_was_run_are_shown() -> None:
    small = Line((networks_unit("digits", "mlp:32"),), {})
    finished: list[Finished] = [made_up(small.units[0])]

    def tables_at(scale: str) -> dict[str, list[Line]]:
        return {"large": [LINE]} if scale == "paper" else {"small": [small]}

    assert list(tables_begun(tables_at, finished)) == ["small"]
    assert list(tables_begun(tables_at, [*finished, made_up(UNIT)])) == ["large", "small"]
    assert not tables_begun(tables_at, [])


def test_units_are_listed_once() -> None:
    assert units_of([LINE, LINE]) == [UNIT]
