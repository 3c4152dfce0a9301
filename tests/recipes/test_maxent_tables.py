"""Tables and figures of the MaxEnt recipes, from made-up rows."""

from __future__ import annotations

from typing import Any

import pytest

from dovetail.recipes import Comparison, Finished, Table, Unit, find_recipe, read_published
from dovetail.recipes.data import DATA_SIZES
from dovetail.recipes.maxent import width
from dovetail.recipes.maxent.condition import Condition, cnn_pruned_at
from dovetail.recipes.maxent.confusions import totals
from dovetail.recipes.maxent.merges import shared_pairs

RECIPES = (
    "table1", "table4", "complete-merge", "connectivity", "temperature", "pruning-ratio", "confusions", "width",
)  # fmt: skip


def scores(seeds: int, sets: int, accuracy: float, entropy: float | None) -> dict[str, Any]:
    """The first seed is .01 above, the second .01 below, and so on."""
    shifts = [0.01 * (-1) ** seed for seed in range(seeds)]
    return {
        "accuracy": [[accuracy + shift] * sets for shift in shifts],
        "entropy": [[entropy] * sets for _ in shifts],
        "calibration_error": [[0.1] * sets for _ in shifts],
    }


def made_up(unit: Unit, accuracy: float = 0.9) -> Finished:
    """A row of the shape that the work gives."""
    settings = unit.settings
    seeds, classes = len(settings["seeds"]), DATA_SIZES[settings["data"]["name"]].outputs
    if unit.work == "maxent/generalists":
        return Finished(unit, {"accuracy": [0.95] * seeds}, 1.0, "cpu")
    sets, pairs = settings["rewarded"], settings["pairs"]
    whole = bool(pairs) and 2 * len(pairs[0][0]) == classes
    row: dict[str, Any] = {
        "alone": scores(seeds, len(sets), 0.99, 2.0),
        "pairs": scores(seeds, len(pairs), accuracy, None if whole else 1.5),
    }
    if settings["orders"]:
        row["steps"] = scores(seeds, classes, 0.8, 1.9)
        falling = [1 - 0.05 * step for step in range(classes)]
        row["merged"] = {
            "accuracy": [falling] * seeds * settings["orders"],
            "entropy": [[2.0] * (classes - 1) + [None]] * seeds * settings["orders"],
        }
    if settings["methods"]:
        row["methods"] = {method: scores(seeds, 1, 0.85, None) for method in settings["methods"]}
    if settings["confusions"]:
        counts = [[10 if i == j else 1 for j in range(classes)] for i in range(classes)]
        row["confusions"] = {
            "alone": [{"rewarded": ids, "counts": counts} for ids in sets],
            "pairs": [{"rewarded": sorted(a + b), "counts": counts} for a, b in pairs],
        }
        if settings["orders"]:
            growing = [list(range(step + 1)) for step in range(classes)]
            row["confusions"]["steps"] = [{"rewarded": ids, "counts": counts} for ids in growing]
    if settings["paths"]:
        points = 2 * settings["paths"]["points"]
        ends = [("pair", a, b) for a, b in settings["paths"]["pairs"]]
        if settings["paths"]["steps"]:
            ends += [("step", list(range(step)), [step]) for step in range(1, classes)]
        line = [0.0, *[-5.0] * (points - 3), 1.5, 0.0]
        row["paths"] = [
            {"kind": kind, "first": a, "second": b, "train": [line] * seeds, "test": [line] * seeds}
            for kind, a, b in ends
        ]
    return Finished(unit, row, 1.0, "cpu")


def comparison(table: Table | Comparison) -> Comparison:
    assert isinstance(table, Comparison)
    return table


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("scale", ["smoke", "paper"])
def test_nothing_finished_gives_no_tables(name: str, scale: Any) -> None:
    recipe = find_recipe(name)
    assert not recipe.tables(scale, [])
    assert not list(recipe.figures(scale, []))


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("scale", ["smoke", "paper"])
def test_any_part_of_the_work_gives_tables(name: str, scale: Any) -> None:
    recipe = find_recipe(name)
    finished = [made_up(unit) for unit in recipe.units(scale)]
    for some in (finished[:1], finished[-1:], finished[::2], finished):
        for table in recipe.tables(scale, some):
            assert table.to_markdown().startswith("### ")
    names = [name for name, _ in recipe.figures(scale, finished)]
    assert len(set(names)) == len(names)
    assert bool(names) == (name != "table1")


def test_table1_puts_the_published_beside_ours() -> None:
    finished = [made_up(Condition("paper", "mnist", "cnn").unit)]
    (table,) = find_recipe("table1").tables("paper", finished)
    assert len(comparison(table).cells) == 2 * 20
    accuracy, entropy = (
        cell
        for cell in comparison(table).cells
        if cell.labels == {"data": "mnist", "net": "cnn", "pruned": "60 %"}
    )
    assert accuracy.ours is not None
    assert accuracy.ours.value == pytest.approx(0.99 + 0.01 / 5)  # three seeds above, two below
    assert accuracy.published is not None
    assert (accuracy.published.value, accuracy.published.spread) == (0.994, 0.005)
    assert accuracy.difference == pytest.approx(0.992 - 0.994)
    assert entropy.difference == pytest.approx(2.0 - 2.302)
    assert sum(cell.ours is None for cell in comparison(table).cells) == 38


def test_table4_shows_every_published_value_and_marks_doubts() -> None:
    pairs = comparison(
        find_recipe("table4").tables("paper", [made_up(Condition("paper", "mnist", "shallow").unit)])[0]
    )
    printed = [row for row in read_published("maxent_table4") if row["mean"]]
    shown = [cell.published for cell in pairs.cells if cell.published is not None]
    assert sorted(quantity.value for quantity in shown) == sorted(float(row["mean"]) for row in printed)
    assert sum(quantity.doubt for quantity in shown) == 19
    wide = {
        (r["data"], r["net"], r["|R|"], r["pruned"], r["loss"]): r for r in pairs.wide().to_dict("records")
    }
    ours = wide["mnist", "shallow", "1", "99 %", "ME"]
    assert ours["accuracy"] == "0.902 (0.010)"
    assert ours["accuracy published"] == "0.991 (0.005)"
    assert ours["accuracy Δ"] == "-0.089"
    assert ours["entropy published"] == "2.287 (0.005) ?"
    assert wide["mnist", "shallow", "5", "99 %", "ME"]["entropy"] == "–"


def test_table4_compares_losses() -> None:
    finished = [
        made_up(Condition("paper", "mnist", "shallow", loss=loss).unit, accuracy)
        for loss, accuracy in (("me", 0.95), ("qme", 0.9), ("xe", 0.9))
    ]
    tests = find_recipe("table4").tables("paper", finished)[1]
    (line,) = tests.frame.to_dict("records")
    assert line["ME − QME"] == pytest.approx(0.05)
    assert line["p me>qme"] < 1e-6
    assert line["QME − XE"] == pytest.approx(0)
    assert line["p qme>xe"] == pytest.approx(0.5)


def test_complete_merge_has_a_column_for_each_step_and_method() -> None:
    finished = [made_up(Condition("paper", data, "shallow").unit) for data in ("mnist", "yeast")]
    accuracy, entropy, methods = find_recipe("complete-merge").tables("paper", finished)
    mnist, yeast = accuracy.frame.to_dict("records")
    assert [mnist[str(step)] for step in (1, 2, 10)] == pytest.approx([1.0, 0.95, 0.55])
    assert yeast["4"] == pytest.approx(0.85)
    assert yeast["5"] != yeast["5"]  # there is none
    assert "10" not in entropy.frame
    shown = comparison(methods).wide().iloc[0]
    assert [shown[name] for name in ("sum", "averaged logits", "TIES", "calibrated sum")] == [
        "0.802 (0.011)", *["0.852 (0.011)"] * 3,
    ]  # fmt: skip


def test_connectivity_counts_barriers_and_seeds() -> None:
    steps, pairs = find_recipe("connectivity").tables(
        "paper", [made_up(Condition("paper", "har", "deep").unit)]
    )
    assert comparison(steps).wide().iloc[0]["+ 5"] == "1.5 (0.0)"
    assert set(comparison(pairs).wide()["connected"]) == {"5/5"}


def test_pruning_ratio_compares_the_same_pairs() -> None:
    """At the rate of the tables there are ten pairs, at others four of them."""
    table, other = cnn_pruned_at("paper", "mnist", 2, 0.6), cnn_pruned_at("paper", "mnist", 2, 0.9)
    ten, four = table.unit.settings["pairs"], other.unit.settings["pairs"]
    assert (len(ten), len(four)) == (10, 4)
    row = made_up(table.unit).row
    for place, pair in enumerate(ten):
        for accuracies in row["pairs"]["accuracy"]:
            accuracies[place] = 1.0 if pair in four else 0.0
    assert shared_pairs(table, row) == [1.0] * 4 * 5
    assert len(shared_pairs(other, made_up(other.unit).row)) == 4 * 5


def test_totals_of_confusion_matrices() -> None:
    everyone = {"rewarded": [0, 1], "counts": [[3, 1], [0, 4]]}
    assert totals([everyone]) == {"right": 7 / 8, "claimed": None, "by chance": None}
    two = {"rewarded": [0, 1], "counts": [[3, 0, 1], [0, 4, 0], [1, 1, 6]]}
    assert totals([two]) == {"right": 7 / 8, "claimed": 2 / 8, "by chance": pytest.approx(2 / 3)}


def test_width_relates_slots_to_generalists() -> None:
    point = width.Point("paper", "mnist", "shallow", (480,))
    assert point.plain is not None
    assert point.slots is not None
    (table,) = find_recipe("width").tables(
        "paper", [made_up(unit) for unit in (point.generalists, point.plain.unit, point.slots.unit)]
    )
    (shown,) = table.wide().to_dict("records")
    assert shown["net"] == "mlp:480"
    assert shown["sum"] == shown["sum in slots"] == "0.802 (0.011)"
    assert shown["generalist"] == "0.950 (0.000)"
    assert shown["slots / generalist"] == f"{0.802 / 0.95:.3f}"


def test_width_leaves_out_what_is_too_large_or_cannot_be_divided_evenly() -> None:
    large, table_cnn = width.Point("paper", "mnist", "shallow", (1920, 960)), width.points("paper")[-4]
    assert large.plain is None
    assert large.slots is not None
    assert table_cnn.plain == Condition("paper", "fashion-mnist", "cnn")
    assert table_cnn.slots is None
