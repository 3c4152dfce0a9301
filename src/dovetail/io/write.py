"""Writing: a file is there whole or not at all."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DovetailError

if TYPE_CHECKING:
    from torch import Tensor

_ENDING = ".part"
_ABANDONED = 3600
"""Seconds without a change after which a file that is being written is taken for what a kill has left."""


def write_whole(path: str | Path, write: Callable[[Path], object]) -> Path:
    """Write a file under another name and rename it when it is complete.

    Parameters
    ----------
    path : path
        Where the file shall be; a file that is there is replaced.
    write : callable
        Writes the file to the path that it is given.

    Raises
    ------
    DovetailError
        When the file cannot be written; an existing one is left as it was.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/a.txt", lambda path: path.write_text("all of it")).read_text()
    'all of it'
    """
    path = Path(path)
    check_folder(path)
    # In the same folder, so that the last step is a rename, which is all or nothing.
    temporary = path.parent / f"{_beginning(path)}{secrets.token_hex(4)}{_ENDING}"
    try:
        try:
            _remove_abandoned(path)
            write(temporary)
            with temporary.open("rb+") as written:
                os.fsync(written.fileno())  # or a power cut could leave the name without the content
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = error.strerror if isinstance(error, OSError) else None
        raise DovetailError(f"cannot write {path}: {reason or error}") from error
    return path


def write_tensors(path: str | Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> Path:
    """Write a ``.safetensors`` file, whole or not at all."""
    from safetensors.torch import save

    # Not save_file: it writes to a temporary file of its own beside ours, whose name nobody knows after a kill.
    return write_whole(path, lambda temporary: temporary.write_bytes(save(dict(tensors), dict(metadata))))


def check_folder(path: Path) -> None:
    """Refuse a path for a file in a folder that does not exist."""
    try:
        there = path.parent.is_dir()
    except OSError as error:  # such as a name that is too long
        raise DovetailError(f"cannot write {path}: {error.strerror}") from error
    if not there:
        raise DovetailError(f"cannot write {path}: there is no folder {path.parent}")


def _remove_abandoned(path: Path) -> None:
    """Remove what writers of this file have left that were killed; not what others are writing now."""
    with suppress(OSError):  # another process may do the same
        for entry in path.parent.iterdir():
            ours = entry.name.startswith(_beginning(path)) and entry.name.endswith(_ENDING)
            if ours and time.time() - entry.stat().st_mtime > _ABANDONED:
                entry.unlink()


def _beginning(path: Path) -> str:
    """Return how names of files begin that are not yet that file."""
    return f".{path.name}."
