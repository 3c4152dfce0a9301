"""The MaxEnt recipes at smoke scale, and what of the paper survives there. One file: they share what they train."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dovetail.recipes import Comparison, find_recipe
from dovetail.recipes.unit import canonical

from .smoke import run_smoke

pytestmark = pytest.mark.slow

UNIFORM = math.log(10)


def tables_of(name: str) -> list[Any]:
    """Run a recipe; check that its rows are small JSON and that its figures can be drawn; return its tables."""
    finished = run_smoke(name)
    recipe = find_recipe(name)
    assert all(len(canonical(done.row)) < 300_000 for done in finished)
    for _, figure in recipe.figures("smoke", finished):
        figure.canvas.draw()
    return list(recipe.tables("smoke", finished))


def values(table: Comparison, **labels: object) -> dict[str, float]:
    """Return the values of the one row with these labels, by metric."""
    names = {"size": "|R|"}
    wanted = {names.get(name, name): value for name, value in labels.items()}
    cells = [cell for cell in table.cells if wanted.items() <= cell.labels.items()]
    assert len({canonical(dict(cell.labels)) for cell in cells}) == 1
    return {cell.metric: cell.ours.value for cell in cells if cell.ours is not None}


def test_table1_specialists_are_right_on_their_class_and_undecided_on_others() -> None:
    (table,) = tables_of("table1")
    assert len(table.wide()) == 4
    for net in ("shallow", "deep"):
        for pruned in ("no", "90 %"):
            found = values(table, net=net, pruned=pruned)
            assert found["accuracy"] > 0.95
            assert found["entropy"] > 0.95 * UNIFORM


def test_table4_max_entropy_sums_best_and_stays_undecided() -> None:
    pairs, tests = tables_of("table4")
    assert len(pairs.wide()) == 18
    for row in tests.frame.to_dict("records"):
        assert row["p me>xe"] < 0.05
    for net, size in (("shallow", 1), ("shallow", 2), ("deep", 1)):
        me, qme, xe = (
            values(pairs, net=net, size=size, pruned="90 %", loss=loss) for loss in ("ME", "QME", "XE")
        )
        assert me["accuracy"] > max(qme["accuracy"], xe["accuracy"])
        assert me["entropy"] > qme["entropy"] > xe["entropy"]


def test_complete_merge_pruned_specialists_merge_better() -> None:
    accuracy, _, methods = tables_of("complete-merge")
    rows = {(row["net"], row["pruned"]): row for row in accuracy.frame.to_dict("records")}
    for net in ("shallow", "deep"):
        pruned, whole = rows[net, "90 %"], rows[net, "no"]
        assert pruned["1"] > pruned["5"] > pruned["10"]  # more specialists, more interference
        assert pruned["5"] > whole["5"]
        assert pruned["10"] > whole["10"]
        merged = values(methods, net=net)
        assert merged["averaged logits"] > merged["calibrated sum"] > merged["sum"]
    assert rows["shallow", "90 %"]["10"] > rows["deep", "90 %"]["10"]


def test_connectivity_shallow_merges_meet_no_high_barrier() -> None:
    steps, pairs = tables_of("connectivity")
    assert len(steps.wide()) == 2
    assert set(pairs.wide()["net"]) == {"shallow", "deep", "cnn"}
    barriers = list(values(steps, net="shallow").values())
    assert len(barriers) == 9
    assert sum(barriers[:2]) / 2 < sum(barriers[-4:]) / 4 < 5  # small ones, and in the later steps
    first = run_smoke("connectivity")[0].row["paths"]
    assert all(seed[0] == seed[-1] == 0 for path in first for seed in path["test"])
    middle = [seed[len(seed) // 2] for path in first for seed in path["test"]]
    assert max(middle) < 0  # the sum lies below the line between what it is made of


def test_temperature_specialists_stay_undecided_at_any() -> None:
    accuracy, entropy = tables_of("temperature")
    assert list(accuracy.frame["temperature"]) == [1.0, 3.0, 5.0, 7.0]
    assert (accuracy.frame["1"] > 0.95).all()
    assert (accuracy.frame["5"] > accuracy.frame["10"]).all()
    assert (entropy.frame["5"] > 0.9 * UNIFORM).all()


def test_pruning_ratio_too_little_and_too_much_both_hurt() -> None:
    accuracy, entropy, cnn = tables_of("pruning-ratio")
    little, right, much = accuracy.frame["10"]
    assert right > max(little, much)
    assert entropy.frame["8"][1] > max(entropy.frame["8"][0], entropy.frame["8"][2])
    found = values(cnn, data="digits", size=2)
    assert found["60 % pruned"] > found["99 % pruned"]


def test_confusions_rewarded_classes_stay_apart_after_merging() -> None:
    (table,) = tables_of("confusions")
    rows = {(r["net"], r["pruned"], r["what"]): r for r in table.frame.to_dict("records")}
    for net in ("shallow", "deep"):
        assert rows[net, "90 %", "one specialist alone"]["right"] > 0.95
        assert rows[net, "90 %", "two summed"]["right"] > 0.95
        assert (
            rows[net, "90 %", "merged one after another"]["right"]
            > rows[net, "no", "merged one after another"]["right"]
        )


def test_input_shift_changes_sums_and_not_averaged_logits() -> None:
    (table,) = tables_of("input-shift")
    plain, shifted = (values(table, shift=shift) for shift in (0, 0.5))
    assert abs(plain["all, averaged logits"] - shifted["all, averaged logits"]) < 0.05
    assert shifted["10 summed"] > plain["10 summed"]
    assert set(dict(find_recipe("input-shift").figures("smoke", run_smoke("input-shift")))) == {"input-shift"}


def test_an_output_layer_added_twice_spoils_sums_of_two() -> None:
    sums, *_ = tables_of("as-programmed")
    plain, twice = (
        values(sums, net="shallow", dropout="as the text", sum=way) for way in ("plain", "output twice")
    )
    assert plain["accuracy"] > twice["accuracy"] + 0.05


def test_width_slots_make_sums_of_weights_sums_of_logits() -> None:
    (table,) = tables_of("width")
    assert len(table.wide()) == 4
    for net in ("mlp:80", "mlp:160", "mlp:80-40", "mlp:160-80"):
        found = values(table, net=net)
        assert found["sum in slots"] == pytest.approx(found["averaged logits (slots)"], abs=0.004)
        assert found["sum in slots"] > found["sum"] + 0.1
    assert values(table, net="mlp:160-80")["slots / generalist"] > 0.9
    assert (
        values(table, net="mlp:80-40")["sum"] < values(table, net="mlp:80")["sum"]
    )  # depth hurts plain sums
