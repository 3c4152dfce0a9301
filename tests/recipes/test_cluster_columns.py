"""Columns of the Clusterability paper's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from dovetail.recipes import Cell, FilledTable, Finished, Line, LineTable, Quantity
from dovetail.recipes.cluster.comparing import columns, joined, stage_places
from dovetail.recipes.cluster.conditions import lines, networks_unit, per_seed, stage_line

from .cluster_rows import made_up

UNIT = networks_unit("mnist", "mlp:256-256-256-256")
PUBLISHED = {"table": "A.5", "network": "mlp", "dataset": "mnist", "regularisation": "none"}
LINES = lines("mnist", {"net": "mlp:256-256-256-256"}, {}, {"data": "mnist"}, PUBLISHED)


def cells(
    shown: Sequence[Line], finished: Sequence[Finished], **options: Any
) -> Mapping[tuple[str, str], Cell]:
    """Return cells by the line's "pruned" and the column."""
    table = FilledTable(LineTable("", shown, columns(**options)), {one.unit: one for one in finished})
    return {(cell.labels["pruned"], cell.metric): cell for cell in table.cells()}  # type: ignore[misc]


def test_ours_stands_beside_the_published() -> None:
    found = cells(LINES, [made_up(UNIT, 9.0)])
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
    found = cells(LINES, []).values()
    assert all(cell.ours is None for cell in found)
    assert sum(cell.published is not None for cell in found) == 10


def test_counts_are_of_networks_that_beat_all_copies() -> None:
    unit = networks_unit("mnist", "mlp:256-256-256-256", measures=[{"shuffles": 320}])
    line = stage_line([unit], {}, {"table": "A.1", "dataset": "mnist", "regularisation": "none"})
    count = cells([line], [made_up(unit)], threshold="1/320")["yes", "p < 1/320"]
    assert str(count.ours) == "1/5"
    assert str(count.published) == "7/10"


def test_losses_in_place_of_accuracies() -> None:
    line = stage_line([UNIT], {}, {"table": "A.19", "regularisation": "none"})
    loss = cells([line], [made_up(UNIT)], score="loss")["yes", "test loss"]
    assert loss.ours is not None
    assert loss.ours.value == pytest.approx(0.4)
    assert str(loss.published) == "0.024"


def test_networks_without_copies_have_no_counts() -> None:
    unit = networks_unit("digits", "mlp:32", measures=[{"shuffles": 0}])
    finished = made_up(unit)
    for name in ("dist_ncut", "dist_sd", "p_value", "z_score"):
        finished.row["pruned"]["measures"][0][name] = [None] * 5
    found = cells([stage_line([unit], {})], [finished], threshold="0.02")
    assert found["yes", "shuffled"].ours is None
    assert found["yes", "p < 0.02"].ours is None
    assert found["yes", "n-cut"].ours is not None


def test_units_of_one_seed_each_are_joined() -> None:
    rows = [made_up(unit, float(place)).row for place, unit in enumerate(per_seed(UNIT))]
    row = joined([*rows[:4], None])
    assert row["pruned"]["measures"][0]["ncut"] == [0.0, 1.0, 2.0, 3.0]
    assert row["unpruned"]["test"]["accuracy"] == [0.8] * 4
    assert joined([None]) is None


def test_charts_show_a_condition_once_and_name_what_differs() -> None:
    other = lines("mnist", {"net": "mlp:32"}, {}, {"data": "other"})
    table = FilledTable(LineTable("", [*LINES, *other], columns()), {UNIT: made_up(UNIT)})
    (first, found), (second, nothing) = stage_places(table.lines, "unpruned")
    assert (first, second) == ("mnist", "other")
    assert found is not None
    assert len(found["ncut"]) == 5
    assert nothing is None
