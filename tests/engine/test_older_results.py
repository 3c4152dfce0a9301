"""Results of an older version of a work: shown and marked, and done again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dovetail.engine import RunFolder, reproduce
from dovetail.engine.results_file import NAME, read_results
from dovetail.recipes import Cell, Comparison, Finished, Quantity, Unit, finished_units
from dovetail.recipes.works import WORKS

from .small import CountingEngine, small_recipe, small_units


def raise_version(monkeypatch: pytest.MonkeyPatch) -> None:
    home, version = WORKS["cluster/networks"]
    monkeypatch.setitem(WORKS, "cluster/networks", (home, version + 1))


def test_a_version_is_part_of_the_key_and_older_keys_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    (old,) = small_units(1)
    assert old.older_keys == []
    key = old.key
    raise_version(monkeypatch)
    (new,) = small_units(1)
    assert new.key != key
    assert new.older_keys == [key]


def test_the_newest_result_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    (old,) = small_units(1)
    kept = {old.key: Finished(old, {"x": 1}, 1.0, "cpu")}
    assert [one.is_older for one in finished_units([old], kept)] == [False]
    raise_version(monkeypatch)
    (new,) = small_units(1)
    (found,) = finished_units([new], kept)
    assert (found.row, found.is_older) == ({"x": 1}, True)
    kept[new.key] = Finished(new, {"x": 2}, 1.0, "cpu")
    (found,) = finished_units([new, new], kept)
    assert (found.row, found.is_older) == ({"x": 2}, False)


def test_older_results_are_shown_and_marked_and_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dovetail.engine.reproduction.find_recipe", lambda name: small_recipe(2))
    engine = CountingEngine()
    monkeypatch.setattr("dovetail.engine.reproduction.find_engine", lambda *_, **__: engine)
    plain = reproduce("small", "paper", tmp_path, progress=False)
    assert len(engine.asked) == 2
    assert "†" not in str(plain)
    raise_version(monkeypatch)
    with RunFolder(tmp_path, small_recipe(2), "paper") as folder:
        units = small_recipe(2).units("paper")
        assert len(folder.missing(units)) == 2
        finished = folder.finished(units)
        assert all(one.is_older for one in finished)
        folder.write_tables(finished)
    assert "**†** 2 of 2 units" in (tmp_path / "table.md").read_text("utf-8")
    again = reproduce("small", "paper", tmp_path, progress=False)
    assert len(engine.asked) == 4
    assert str(again) == str(plain)
    assert len(read_results(tmp_path / NAME)) == 4


def test_cells_of_older_results_have_a_dagger() -> None:
    cells = [
        Cell({"data": name}, "accuracy", Quantity(0.5), older=older)
        for name, older in (("mnist", True), ("digits", False))
    ]
    assert Comparison("", cells).wide()["accuracy"].tolist() == ["0.500 †", "0.500"]


def test_a_result_names_its_commit_and_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.engine.reproduction.find_recipe", lambda name: small_recipe(1))
    monkeypatch.setattr("dovetail.engine.reproduction.find_engine", lambda *_, **__: CountingEngine())
    reproduce("small", "paper", tmp_path, progress=False)
    line = json.loads((tmp_path / NAME).read_text("utf-8"))
    assert line["commit"]
    assert "/" not in line["commit"]
    (read,) = read_results(tmp_path / NAME).values()
    assert read.commit == line["commit"]


def test_results_without_a_commit_can_be_read(tmp_path: Path) -> None:
    (unit,) = small_units(1)
    line = {
        "key": unit.key, "work": unit.work, "settings": unit.settings, "row": {"x": 1}, "seconds": 1.0, "device": "cpu",
        "dovetail": "0.1",
    }  # fmt: skip
    (tmp_path / NAME).write_text(json.dumps(line) + "\n", "utf-8")
    (read,) = read_results(tmp_path / NAME).values()
    assert (read.unit, read.commit) == (Unit(unit.work, unit.settings), "")


def test_results_with_the_settings_that_were_put_right_are_shown_as_older() -> None:
    (old,) = small_units(1)
    new = Unit(old.work, {**old.settings, "epochs": 7}, before=old.settings)
    assert new.key != old.key
    (found,) = finished_units([new], {old.key: Finished(old, {"x": 1}, 1.0, "cpu")})
    assert (found.row, found.is_older) == ({"x": 1}, True)
    assert found.unit == new, "tables look for results by their units of now"
    assert finished_units([new], {new.key: Finished(new, {"x": 2}, 1.0, "cpu")})[0].row == {"x": 2}
