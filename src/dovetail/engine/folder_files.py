"""Files in a run folder: plain ones, as a link could lead a run to write, or to read, anywhere else."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from ..errors import DovetailError
from ..io.plain import open_plain


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
        If it is a link, or no file.
    OSError
        If it cannot be opened.
    """
    check_own(path)  # says why; opened without links, even one that is made after this line is not followed
    return open_plain(path, mode, links=False)
