"""A full disk and a folder that nobody may write to: one clear line, nothing is lost, and it goes on later."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from . import small_works, works
from .folder_state import finished_units, state_of
from .small_disk import fill, read_only, small_disk
from .warm import Outcome, Warm, Work

pytestmark = pytest.mark.slow


def assert_one_line(outcome: Outcome, message: str) -> None:
    assert outcome.status == 1
    last = outcome.said.splitlines()[-1]
    assert last.startswith("error: cannot write")
    assert last.endswith(message)


def test_training_without_room_for_files(warm: Warm, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    assert_one_line(warm.do(small_works.train(folder), file_limit=1000), "File too large")
    assert list(folder.iterdir()) == []
    assert warm.do(small_works.train(folder)).status == 0


def test_a_run_without_room_for_results_keeps_those_it_has(warm: Warm, tmp_path: Path) -> None:
    whole, folder = tmp_path / "elsewhere" / "whole", tmp_path / "folder"
    assert warm.do(small_works.reproduce(whole)).status == 0
    assert_one_line(warm.do(small_works.reproduce(folder), file_limit=2000), "File too large")
    before = [
        line for line in (folder / "results.jsonl").read_text().splitlines(keepends=True) if "\n" in line
    ]
    assert len(before) == 1  # a line has 1,400 characters
    assert warm.do(small_works.reproduce(folder)).status == 0
    assert (folder / "results.jsonl").read_text().startswith("".join(before))
    assert finished_units(folder) == finished_units(whole)
    assert (folder / "table.md").read_bytes() == (whole / "table.md").read_bytes()


def test_composing_without_room_leaves_the_old_file(warm: Warm, tmp_path: Path) -> None:
    parts = [
        part.save(tmp_path / f"{number}.safetensors") for number, (part, _) in enumerate(works.saved_parts())
    ]
    work = small_works.compose(parts, tmp_path / "folder")
    old = parts[0].read_bytes()
    (tmp_path / "folder" / "composite.safetensors").write_bytes(old)
    assert_one_line(warm.do(work, file_limit=5000), "File too large")
    (kept,) = (tmp_path / "folder").iterdir()
    assert kept.read_bytes() == old


@pytest.mark.parametrize("work", [small_works.train, small_works.reproduce])
def test_a_disk_that_is_full(work: Callable[[Path], Work], warm: Warm, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, "64k"):
        folder = disk / "folder"
        folder.mkdir()
        filler = fill(disk, leave=0)
        assert_one_line(warm.do(work(folder)), "No space left on device")
        assert state_of(folder) == {}
        filler.unlink()
        assert warm.do(work(folder)).status == 0


@pytest.mark.parametrize("work", [small_works.train, small_works.reproduce])
def test_a_read_only_folder(work: Callable[[Path], Work], warm: Warm, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, "200k"):
        folder = disk / "folder"
        assert warm.do(work(folder)).status == 0
        before = state_of(folder)
        with read_only(disk):
            refused = warm.do(work(folder))
            assert refused.status == 1
            assert f"error: cannot write into the folder {folder}" in refused.said
            assert state_of(folder) == before
