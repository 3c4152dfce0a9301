"""The lock of a folder: one process at a time works there, and others see whether there is one."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import IO

from ..errors import DovetailError
from .plain import open_plain

LOCK = ".lock"
_PATIENCE = 0.5
"""Seconds to try again: someone may hold the lock only to see whether it is free."""
_TAKEN = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


def take_lock(folder: Path) -> IO[str]:
    """Return a file that holds the folder until it is closed; its date says since when.

    Raises
    ------
    DovetailError
        When another process is working there, the lock is a link, or the disk has no locks.
    OSError
        When nothing can be written there.
    """
    place = folder / LOCK
    if place.is_symlink():
        raise DovetailError(f"{place} is a link, and should be a file of its own; remove it")
    file = open_plain(place, "a", links=False)
    try:
        end = time.monotonic() + _PATIENCE
        while not _is_free(file.fileno(), folder):
            if time.monotonic() > end:
                raise DovetailError(
                    f"another process is working in {folder}; wait for it, or take another folder"
                )
            time.sleep(0.02)
        os.utime(file.fileno() if os.utime in os.supports_fd else place)
    except BaseException:
        file.close()
        raise
    return file


def is_worked_in(folder: Path) -> bool:
    """Whether a process is working in a folder now."""
    try:
        with open_plain(folder / LOCK, "r", links=False) as file:
            return not lock_file(file.fileno(), shared=True)
    except (
        DovetailError,
        OSError,
    ):  # nobody ever has, it is not ours, there are no locks, or nobody may look
        return False


def worked_in_since(folder: Path) -> float:
    """Return when the last process began to work in a folder, in seconds since 1970; 0 if none ever has."""
    try:
        return (folder / LOCK).lstat().st_mtime
    except OSError:
        return 0.0


def _is_free(file: int, folder: Path) -> bool:
    try:
        return lock_file(file)
    except OSError as error:
        raise DovetailError(
            f"cannot lock the folder {folder}: {error.strerror or error}; its disk has no locks, which keep two "
            "processes apart: take a folder on another disk"
        ) from error


def lock_file(file: int, *, shared: bool = False) -> bool:
    """Lock an open file until it is closed; return whether nobody else has.

    Raises
    ------
    OSError
        When its disk has no locks, as some network disks.
    """
    try:
        import fcntl
    except ImportError:  # Windows; two processes in one folder are the user's affair there
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        raise
    return True
