from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.engine import RunFolder
from dovetail.engine.run_folder import read_config
from dovetail.errors import DovetailError, FileFormatError
from dovetail.recipes import Finished, find_recipe

from .small import small_recipe, small_units


def test_a_folder_belongs_to_one_recipe_at_one_scale(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", small_recipe(), "smoke"):
        pass
    assert read_config(tmp_path / "run")["recipe"] == "small"
    with pytest.raises(
        DovetailError, match="holds a run of small at scale smoke, not of small at scale paper"
    ):
        RunFolder(tmp_path / "run", small_recipe(), "paper")
    with pytest.raises(DovetailError, match="not of table4"):
        RunFolder(tmp_path / "run", find_recipe("table4"), "smoke")


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path, small_recipe(), "smoke"),
        pytest.raises(DovetailError, match="another process is working in"),
    ):
        RunFolder(tmp_path, small_recipe(), "smoke")
    with RunFolder(tmp_path, small_recipe(), "smoke"):
        pass


def test_finished_units_are_taken_from_runs_beside_it(tmp_path: Path) -> None:
    first, second, third = small_units(3)
    with RunFolder(tmp_path / "one", small_recipe(), "smoke") as one:
        one.add([Finished(first, {"x": 1}, 1.0, "cpu")])
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "results.jsonl").write_text("not ours\n")
    with RunFolder(tmp_path / "two", small_recipe(), "paper") as two:
        two.add([Finished(second, {"x": 2}, 1.0, "cpu")])
        assert two.take_from_neighbours([first, second, third]) == 1
        assert two.missing([first, second, third]) == [third]
    with RunFolder(tmp_path / "two", small_recipe(), "paper") as again:
        assert [one.row for one in again.finished([third, first, second])] == [{"x": 1}, {"x": 2}]


def test_what_is_no_run_folder_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="is not a run folder"):
        read_config(tmp_path)
    (tmp_path / "config.yaml").write_text("recipe: !!python/object\n")
    with pytest.raises(FileFormatError, match="is not a run folder"):
        RunFolder(tmp_path, small_recipe(), "smoke")


@pytest.mark.parametrize("name", ["results.jsonl", "table.md", "figures"])
def test_files_that_are_not_a_run_s_are_left_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine, without an end")
    with pytest.raises(DovetailError, match=f"is not a run folder, but has {name}"):
        RunFolder(tmp_path, small_recipe(), "smoke")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine, without an end"


def test_a_config_that_a_power_cut_left_empty_is_written_again(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").touch()
    with RunFolder(tmp_path, small_recipe(), "smoke"):
        assert read_config(tmp_path)["recipe"] == "small"


def test_what_is_taken_over_keeps_where_it_comes_from(tmp_path: Path) -> None:
    (unit,) = small_units(1)
    with RunFolder(tmp_path / "old", small_recipe(), "smoke") as old:
        old.add([Finished(unit, {"x": 1}, 1.0, "NVIDIA H200", "0.0.1")])
    with RunFolder(tmp_path / "new", small_recipe(), "smoke") as new:
        assert new.take_from_neighbours([unit]) == 1
    with RunFolder(tmp_path / "new", small_recipe(), "smoke") as again:
        assert again.finished([unit]) == [Finished(unit, {"x": 1}, 1.0, "NVIDIA H200", "0.0.1")]


def test_figures_that_a_recipe_no_longer_has_go(tmp_path: Path) -> None:
    with RunFolder(tmp_path, small_recipe(), "smoke") as run:
        (tmp_path / "figures").mkdir()
        (tmp_path / "figures" / "old.png").touch()
        run.write_tables([])
        assert not list((tmp_path / "figures").iterdir())


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(DovetailError, match="cannot make the folder"):
        RunFolder(tmp_path / "run", small_recipe(), "smoke")
