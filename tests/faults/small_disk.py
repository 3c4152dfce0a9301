"""A disk of a few kilobytes, where the system allows to make one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """Mount a small disk on a folder; skip the test where that takes rights that we do not have."""
    folder.mkdir()
    if not _did("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)):
        pytest.skip("mounting needs root and a system that allows it")
    try:
        yield
    finally:
        assert _did("umount", str(folder))


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a small disk read-only for a while."""
    assert _did("mount", "-o", "remount,ro", str(folder))
    try:
        yield
    finally:
        assert _did("mount", "-o", "remount,rw", str(folder))


def fill(folder: Path, *, leave: int) -> Path:
    """Fill a small disk up to a number of bytes; return the file to delete to make room again."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            end = file.tell()
        file.truncate(max(0, end - leave))
    return filler


def _did(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
