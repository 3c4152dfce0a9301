"""Files that are a run folder's own: a link in it could lead a run to write, or to read, anywhere else."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO, Any

from ..errors import DovetailError

_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Links are refused by the system itself, and a pipe keeps nobody waiting; Windows has neither flag."""


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
