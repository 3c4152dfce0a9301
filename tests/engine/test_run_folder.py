from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pytest
from matplotlib.figure import Figure

from dovetail.engine import RunFolder
from dovetail.engine.run_folder import read_config
from dovetail.errors import DovetailError, FileFormatError
from dovetail.io.lock import is_worked_in, take_lock
from dovetail.recipes import Finished, Line, LineTable, Recipe, find_recipe

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


def test_a_run_that_began_just_before_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def take_late(folder: Path) -> IO[str]:
        monkeypatch.undo()
        with RunFolder(folder, find_recipe("table4"), "smoke"):
            pass
        return take_lock(folder)

    monkeypatch.setattr("dovetail.engine.run_folder.take_lock", take_late)
    with pytest.raises(DovetailError, match="holds a run of table4"):
        RunFolder(tmp_path / "run", small_recipe(), "smoke")
    assert not is_worked_in(tmp_path / "run")


def test_a_disk_without_locks_is_not_taken_for_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def unsupported(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with pytest.raises(DovetailError, match=r"cannot lock the folder .*: No locks available; .*another disk"):
        RunFolder(tmp_path, small_recipe(), "smoke")


def test_a_name_that_no_folder_can_have(tmp_path: Path) -> None:
    with pytest.raises(DovetailError, match=r"cannot look into the folder .*: File name too long"):
        RunFolder(tmp_path / ("a" * 300), small_recipe(), "smoke")


def test_finished_units_are_taken_from_runs_beside_it(tmp_path: Path) -> None:
    first, second, third = small_units(3)
    with RunFolder(tmp_path / "one", small_recipe(), "smoke") as one:
        one.add([Finished(first, {"x": 1}, 1.0, "cpu")])
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "results.jsonl").write_text("not ours\n")
    with RunFolder(tmp_path / "two", small_recipe(), "paper") as two:
        two.add([Finished(second, {"x": 2}, 1.0, "cpu")])
        assert two.copy_from_neighbours([first, second, third]) == 1
        assert two.missing([first, second, third]) == [third]
    with RunFolder(tmp_path / "two", small_recipe(), "paper") as again:
        assert [one.row for one in again.finished([third, first, second])] == [{"x": 1}, {"x": 2}]


def test_rows_beside_it_that_no_table_takes_are_not_copied(tmp_path: Path) -> None:
    first, second = small_units(2)

    def rows(line: object, rows: Sequence[dict[str, Any] | None]) -> dict[str, object]:
        assert rows[0] is not None
        return {"x": rows[0]["x"]}

    lines = [Line({"seed": unit.settings["seeds"][0]}, [unit]) for unit in (first, second)]
    table = LineTable("Small", lines, rows, all_lines=False, numbers=True)
    recipe = Recipe("small", "beyond", "A test", "Nothing", lambda scale: [table])
    for name, unit, row in (("one", first, {"y": 1}), ("two", second, {"x": 2})):
        with RunFolder(tmp_path / name, recipe, "smoke") as run:
            run.add([Finished(unit, row, 1.0, "cpu")])
    for text in ('"row":"x"', '"row":{}'):  # the whole of a damaged file is left alone
        odd = tmp_path / f"odd{len(text)}"
        odd.mkdir()
        content = (tmp_path / "one" / "results.jsonl").read_text()
        (odd / "results.jsonl").write_text(content.replace('"row":{"y":1}', text))
    with RunFolder(tmp_path / "new", recipe, "smoke") as new:
        assert new.copy_from_neighbours([first, second]) == 1
        assert new.missing([first, second]) == [first]
        new.write_tables(new.finished([first, second]))


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
        assert new.copy_from_neighbours([unit]) == 1
    with RunFolder(tmp_path / "new", small_recipe(), "smoke") as again:
        assert again.finished([unit]) == [Finished(unit, {"x": 1}, 1.0, "NVIDIA H200", "0.0.1")]


def drawing_recipe(*names: str) -> Recipe:
    """Return a recipe with empty figures of these names."""
    return replace(small_recipe(), charts=lambda filled: [(name, Figure()) for name in names])


def test_figures_that_a_recipe_no_longer_has_go_and_those_of_others_stay(tmp_path: Path) -> None:
    done = [Finished(small_units(1)[0], {}, 1.0, "cpu")]
    with RunFolder(tmp_path, drawing_recipe("old", "both"), "smoke") as run:
        run.write_tables(done)
    (tmp_path / "figures" / "mine.png").write_bytes(b"drawn by hand")
    with RunFolder(tmp_path, drawing_recipe("both", "new"), "smoke") as run:
        run.write_tables(done)
    assert {file.stem for file in (tmp_path / "figures").iterdir()} == {"both", "new", "mine"}


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(DovetailError, match="cannot make the folder"):
        RunFolder(tmp_path / "run", small_recipe(), "smoke")


@pytest.mark.parametrize(
    "name", ["config.yaml", "results.jsonl", "table.md", "figures", "errors.log", ".lock"]
)
def test_links_in_a_run_folder_are_refused_and_what_they_lead_to_stays(name: str, tmp_path: Path) -> None:
    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    with RunFolder(run, small_recipe(), "smoke"):
        pass
    if name == "figures":
        elsewhere.mkdir()
        (elsewhere / "mine.png").write_text("mine")
    else:
        elsewhere.write_text("mine, without an end")
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(elsewhere)
    with pytest.raises(DovetailError, match=rf"run/{name} is a link.* take another folder"):
        RunFolder(run, small_recipe(), "smoke")
    kept = elsewhere / "mine.png" if name == "figures" else elsewhere
    assert kept.read_text().startswith("mine")


def test_links_that_are_made_during_a_run_are_not_followed_either(tmp_path: Path) -> None:
    (unit,) = small_units(1)
    log, results, figures = (tmp_path / name for name in ("log", "results", "figures"))
    for file in (log, results):
        file.write_text("mine")
    figures.mkdir()
    (figures / "mine.png").write_text("mine")
    with RunFolder(tmp_path / "run", drawing_recipe("curve"), "smoke") as run:
        for name, target in (("errors.log", log), ("results.jsonl", results), ("figures", figures)):
            (run.path / name).symlink_to(target)
        run.note_trace(unit, "a trace")
        with pytest.raises(DovetailError, match="is a link"):
            run.add([Finished(unit, {"x": 1}, 1.0, "cpu")])
        with pytest.raises(DovetailError, match="is a link"):
            run.write_tables([])
    assert log.read_text() == results.read_text() == "mine"
    assert [file.name for file in figures.iterdir()] == ["mine.png"]


def test_results_that_links_lead_to_and_huge_ones_are_not_taken_over(tmp_path: Path) -> None:
    (unit,) = small_units(1)
    with RunFolder(tmp_path / "elsewhere" / "run", small_recipe(), "smoke") as far:
        far.add([Finished(unit, {"x": 1}, 1.0, "cpu")])
    results = far.path / "results.jsonl"
    for name in ("link", "large"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    (tmp_path / "runs" / "link" / "results.jsonl").symlink_to(results)
    (tmp_path / "runs" / "folder").symlink_to(far.path)
    with (tmp_path / "runs" / "large" / "results.jsonl").open("wb") as large:
        large.write(results.read_bytes())
        large.truncate(2**30)  # a hole: no disk is used
    with RunFolder(tmp_path / "runs" / "new", small_recipe(), "smoke") as new:
        assert new.copy_from_neighbours([unit]) == 0


def test_a_config_of_a_strange_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text('recipe: "small"\n' * 10_000)
    with pytest.raises(FileFormatError, match="more than 65,536 characters"):
        read_config(tmp_path)


def test_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".lock")
    assert not is_worked_in(tmp_path)
    with pytest.raises(DovetailError, match=r"cannot open .*: it is a named pipe"):
        RunFolder(tmp_path, small_recipe(), "smoke")
