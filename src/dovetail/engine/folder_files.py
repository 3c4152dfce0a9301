"""Files in a run folder: plain ones, as a link could lead a run to write, or to read, anywhere else; and the lock.

The lock lets one process at a time work in a folder, and says whether there is one.
"""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import IO, Any

from ..errors import DovetailError

_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Links are refused by the system itself, and a pipe keeps nobody waiting; Windows has neither flag."""

LOCK = ".lock"
_PATIENCE = 0.5
"""Seconds to try again: someone may hold the lock only to see whether it is free."""


def check_own(path: Path) -> None:
    """Refuse a link in a run folder.

    Raises
    ------
    DovetailError
        If there is a link of this name.
    """
    if path.is_symlink():
        raise DovetailError(
            f"{path} is a link, and a run reads and writes only what is in its own folder; put there what the link "
            "points to, or take another folder (which may be a link as a whole)"
        )


def open_own(path: Path, mode: str) -> IO[Any]:
    """Open a file of a run folder, which must be a plain one.

    Parameters
    ----------
    path : Path
        The file.
    mode : str
        As for `open`; texts are UTF-8.

    Raises
    ------
    DovetailError
        If it is a link.
    OSError
        If it cannot be opened, or is no regular file.
    """
    check_own(path)  # says why; the flag below holds even if the link is made after this line
    file = open(  # noqa: SIM115 (whoever asked for it closes it)
        path,
        mode,
        encoding=None if "b" in mode else "utf-8",
        opener=lambda name, flags: os.open(name, flags | _NO_LINKS, 0o666),
    )
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(0, "it is no regular file")
    return file


def take_lock(folder: Path) -> IO[str]:
    """Return a file that holds the folder until it is closed; its date says since when.

    Raises
    ------
    DovetailError
        When another process is working there, or the lock is a link.
    OSError
        When nothing can be written or locked there.
    """
    file = open_own(folder / LOCK, "a")
    try:
        end = time.monotonic() + _PATIENCE
        while not _locked(file):
            if time.monotonic() > end:
                raise DovetailError(
                    f"another process is working in {folder}; wait for it, or take another folder"
                )
            time.sleep(0.02)
        os.utime(file.fileno() if os.utime in os.supports_fd else folder / LOCK)
    except BaseException:
        file.close()
        raise
    return file


def is_worked_in(folder: Path) -> bool:
    """Whether a process is working in a folder now."""
    try:
        with open_own(folder / LOCK, "r") as file:
            return not _locked(file, shared=True)
    except (DovetailError, OSError):  # nobody ever has, it is not ours, or nobody may look
        return False


def worked_in_since(folder: Path) -> float:
    """Return when the last process began to work in a folder, in seconds since 1970; 0 if none ever has."""
    try:
        return (folder / LOCK).lstat().st_mtime
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
