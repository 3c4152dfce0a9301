from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.engine import reproduce
from dovetail.engine.results_file import read_results
from dovetail.errors import DovetailError, SpecError
from dovetail.recipes import Unit

from .small import CountingEngine, small_recipe, small_units


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.engine.reproduction.find_recipe", lambda name: small_recipe())


def use(engine: CountingEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.engine.reproduction.find_engine", lambda *args, **options: engine)


@pytest.mark.usefixtures("small")
def test_an_interrupted_run_goes_on_and_never_does_a_unit_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = CountingEngine(stop_after=3)
    use(first, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        reproduce("small", folder=tmp_path / "broken", progress=False)
    assert len(read_results(tmp_path / "broken" / "results.jsonl")) == 3
    second = CountingEngine()
    use(second, monkeypatch)
    run = reproduce("small", folder=tmp_path / "broken", progress=False)
    assert len(second.asked) == 1
    assert {*first.asked, *second.asked} == {*small_units(4)}
    assert [one.row["seed"] for one in run.finished] == [0, 1, 2, 3]
    third = CountingEngine()
    use(third, monkeypatch)
    again = reproduce("small", folder=tmp_path / "broken", progress=False)
    assert third.asked == []
    assert again.finished == run.finished
    assert (tmp_path / "broken" / "table.md").read_text().startswith("# A test\n\nNothing.\n\n### Small\n")


@pytest.mark.usefixtures("small")
def test_units_that_fail_are_told_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(CountingEngine(fail="no weights"), monkeypatch)
    with pytest.raises(
        DovetailError, match=r"no unit of small could be done: no weights \[digits, .* and 3 more\]"
    ):
        reproduce("small", folder=tmp_path / "run", progress=False)
    assert not (tmp_path / "run" / "table.md").exists()
    use(CountingEngine(fail="no weights", fails=1), monkeypatch)
    run = reproduce("small", folder=tmp_path / "run", progress=False)
    assert set(run.failed.values()) == {"no weights"}
    assert "3 units, 1 not possible" in repr(run)
    assert "Not possible: no weights [digits" in str(run)
    assert run.done == 3
    use(CountingEngine(), monkeypatch)
    run = reproduce("small", folder=tmp_path / "run", progress=False)
    assert not run.failed
    assert run.done == 1


@pytest.mark.usefixtures("small")
def test_a_run_of_its_own_accord_goes_to_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    use(CountingEngine(), monkeypatch)
    assert str(reproduce("small", progress=False).folder) == "runs/small-smoke"


def test_what_is_not_known_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="unknown recipe 'tabel4'; did you mean 'table4'"):
        reproduce("tabel4", folder=tmp_path / "run")
    with pytest.raises(SpecError, match="unknown scale 'papers'; did you mean 'paper'"):
        reproduce("table4", "papers", folder=tmp_path / "run")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="unknown engine 'rey'; did you mean 'ray'"):
        reproduce("table4", folder=tmp_path / "run", engine="rey")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="is for engine 'ray'"):
        reproduce("table4", folder=tmp_path / "run", address="auto")
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("small")
def test_errors_that_nobody_foresaw_are_written_down_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(CountingEngine(fail="internal error: KeyError", trace="Traceback …"), monkeypatch)
    with pytest.raises(DovetailError, match="internal error: KeyError"):
        reproduce("small", folder=tmp_path / "run", progress=False)
    assert (tmp_path / "run" / "errors.log").read_text().count("Traceback …") == 4


@pytest.mark.usefixtures("small")
def test_side_by_side_the_longest_units_come_first_and_alone_the_order_is_the_recipe_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seconds(unit: Unit, device: str) -> float:
        return float(1 + unit.settings["seeds"][0])

    monkeypatch.setattr("dovetail.engine.reproduction.unit_seconds", seconds)
    for places, seeds in ((("cpu",), [0, 1, 2, 3]), (("cpu", "cpu"), [3, 2, 1, 0])):
        engine = CountingEngine()
        engine.places = places
        use(engine, monkeypatch)
        reproduce("small", folder=tmp_path / str(len(places)) / "run", progress=False)
        assert [unit.settings["seeds"][0] for unit in engine.asked] == seeds


def test_tables_at_smoke_scale_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.engine.reproduction.find_recipe", lambda name: small_recipe())
    use(CountingEngine(), monkeypatch)
    assert (
        reproduce("small", folder=tmp_path / "run", progress=False)
        .tables[0]
        .note.startswith("At smoke scale")
    )
    paper = reproduce("small", "paper", folder=tmp_path / "paper", progress=False)
    assert not paper.tables[0].note
    assert paper.from_others == 4
