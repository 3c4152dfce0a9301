"""One process at a time in a run folder, and whether there is one."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import IO

from ..errors import DovetailError
from .own_files import open_own

NAME = ".lock"
_PATIENCE = 0.5
"""Seconds to try again: someone may hold the lock only to see whether it is free."""


def take_lock(folder: Path) -> IO[str]:
    """Return a file that holds the folder until it is closed; its date says since when.

    Raises
    ------
    DovetailError
        When another process is working there, or the lock is a link.
    OSError
        When nothing can be written or locked there.
    """
    file = open_own(folder / NAME, "a")
    try:
        end = time.monotonic() + _PATIENCE
        while not _locked(file):
            if time.monotonic() > end:
                raise DovetailError(
                    f"another process is working in {folder}; wait for it, or take another folder"
                )
            time.sleep(0.02)
        os.utime(file.fileno() if os.utime in os.supports_fd else folder / NAME)
    except BaseException:
        file.close()
        raise
    return file


def is_worked_in(folder: Path) -> bool:
    """Whether a process is working in a folder now."""
    try:
        with open_own(folder / NAME, "r") as file:
            return not _locked(file, shared=True)
    except (DovetailError, OSError):  # nobody ever has, it is not ours, or nobody may look
        return False


def worked_in_since(folder: Path) -> float:
    """Return when the last process began to work in a folder, in seconds since 1970; 0 if none ever has."""
    try:
        return (folder / NAME).lstat().st_mtime
    except OSError:
        return 0.0


def _locked(file: IO[str], *, shared: bool = False) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows; two runs in one folder are the user's affair there
        return True
    try:
        fcntl.flock(file.fileno(), (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:  # any other error is no sign of another process: some network disks have no locks
        return False
    return True
