"""What a kill leaves of files that were being written goes when any file is written there, and nothing else does."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest

from dovetail.io.lock import lock_file
from dovetail.io.write import write_whole

NOT_OURS = ("a.txt.part", ".a.txt.0123abcd", ".a.txt.0123.part", "..part")


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def write_into(folder: Path) -> set[str]:
    """Write a file, and return what else is there afterwards."""
    write_whole(folder / "other.txt", lambda path: path.write_text("whole"))
    return names_in(folder) - {"other.txt"}


def test_leftovers_of_any_file_go_and_what_is_being_written_stays(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    del fcntl
    for name in (*NOT_OURS, ".a.txt.0123abcd.part", ".b.safetensors.ffffffff.part", ".c.txt.00000000.part"):
        (tmp_path / name).write_text("half")
    (tmp_path / ".folder.00000000.part").mkdir()
    with (tmp_path / ".c.txt.00000000.part").open("rb") as written:
        assert lock_file(written.fileno())  # as whoever writes it does
        stay = {*NOT_OURS, ".folder.00000000.part"}
        assert write_into(tmp_path) == {*stay, ".c.txt.00000000.part"}
    assert write_into(tmp_path) == stay


def test_two_that_write_at_once_leave_each_other_alone(tmp_path: Path) -> None:
    def write(path: Path) -> None:
        path.write_text("first")
        assert len(write_into(tmp_path)) == 1

    assert write_whole(tmp_path / "first.txt", write).read_text() == "first"
    assert names_in(tmp_path) == {"first.txt", "other.txt"}


def test_where_a_disk_has_no_locks_age_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", refuse)
    old, new = tmp_path / ".a.txt.0123abcd.part", tmp_path / ".a.txt.ffffffff.part"
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (time.time() - 7200,) * 2)
    assert write_into(tmp_path) == {new.name}


def test_the_folder_is_synced_once_a_file_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = list[str]()
    sync = os.fsync

    def noted(number: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{number}").readlink()))
        sync(number)

    if not Path("/proc/self/fd").exists():
        pytest.skip("this system does not tell which file is open")
    monkeypatch.setattr(os, "fsync", noted)
    write_whole(tmp_path / "a.txt", lambda path: path.write_text("whole"))
    assert Path(synced[0]).name.endswith(".part")
    assert Path(synced[1]) == tmp_path.resolve()
