"""One process at a time in a run folder, and whether there is one."""

from __future__ import annotations

import stat
import time
from pathlib import Path
from typing import IO

from ..errors import DovetailError

_NAME = ".lock"
_PATIENCE = 0.5
"""Seconds to try again: someone may hold the lock only to see whether it is free."""


def take_lock(folder: Path) -> IO[str]:
    """Return a file that holds the folder until it is closed; its date says since when.

    Raises
    ------
    DovetailError
        When another process is working there.
    """
    file = (folder / _NAME).open("w")
    end = time.monotonic() + _PATIENCE
    while not _locked(file):
        if time.monotonic() > end:
            file.close()
            raise DovetailError(
                f"another process is working in {folder}; wait for it, or take another folder"
            )
        time.sleep(0.02)
    return file


def is_worked_in(folder: Path) -> bool:
    """Whether a process is working in a folder now."""
    path = folder / _NAME
    try:
        if not stat.S_ISREG(path.lstat().st_mode):  # not ours; a pipe would keep us waiting
            return False
        with path.open() as file:
            return not _locked(file, shared=True)
    except OSError:  # nobody ever has, or nobody may look
        return False


def worked_in_since(folder: Path) -> float:
    """Return when the last process began to work in a folder, in seconds since 1970; 0 if none ever has."""
    try:
        return (folder / _NAME).lstat().st_mtime
    except OSError:
        return 0.0


def _locked(file: IO[str], *, shared: bool = False) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows; two runs in one folder are the user's affair there
        return True
    try:
        fcntl.flock(file.fileno(), (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
