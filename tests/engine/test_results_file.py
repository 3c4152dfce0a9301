from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.engine.results_file import add_results, mend, read_results
from dovetail.errors import DovetailError, FileFormatError
from dovetail.recipes import Finished, Unit

from .small import small_units


def finished(unit: Unit) -> Finished:
    return Finished(unit, {"ncut": [0.1, None], "text": "ä\n"}, 1.25, "cpu")


def test_what_is_added_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    first, second = (finished(unit) for unit in small_units(2))
    add_results(path, [first])
    add_results(path, [second])
    assert read_results(path) == {first.unit.key: first, second.unit.key: second}


def test_no_file_means_nothing_is_finished(tmp_path: Path) -> None:
    assert read_results(tmp_path / "results.jsonl") == {}


@given(cut=st.integers(min_value=1, max_value=200))
def test_a_last_line_that_was_cut_off_does_not_count_and_does_not_spoil_the_next(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("cut") / "results.jsonl"
    first, second = (finished(unit) for unit in small_units(2))
    add_results(path, [first, second])
    path.write_bytes(path.read_bytes()[:-cut])
    assert list(read_results(path)) == [first.unit.key]
    mend(path)
    add_results(path, [second])
    assert read_results(path) == {first.unit.key: first, second.unit.key: second}


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    add_results(path, [finished(unit) for unit in small_units(2)])
    first, second, _ = path.read_text().split("\n")
    path.write_text(f"{first}\n{second[:50]}\n{second}\n")
    with pytest.raises(FileFormatError, match=r"line 2 of .* is damaged; delete that line"):
        read_results(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("row", "x"),
        ("row", {}),
        ("row", [1]),
        ("work", 3),
        ("settings", []),
        ("seconds", "x"),
        ("key", None),
    ],
)
def test_a_line_of_other_things_than_a_unit_has_is_damaged(name: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    add_results(path, [finished(small_units(1)[0])])
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}) + "\n")
    with pytest.raises(FileFormatError, match=r"line 1 of .* is damaged; delete that line"):
        read_results(path)


@pytest.mark.parametrize("seconds", ["1" + 400 * "0", 100_000 * "["])
def test_a_line_of_odd_numbers_or_nesting_is_damaged_too(seconds: str, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    add_results(path, [finished(small_units(1)[0])])
    path.write_text(path.read_text().replace("1.25", seconds))
    with pytest.raises(FileFormatError, match=r"line 1 of .* is damaged"):
        read_results(path)


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").mkdir()
    with pytest.raises(DovetailError, match="cannot write"):
        add_results(tmp_path / "results.jsonl", [finished(small_units(1)[0])])
