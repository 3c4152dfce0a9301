"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import DovetailError

if TYPE_CHECKING:
    from torch import Tensor


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
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
    try:
        try:
            temporary.touch()
            mode = temporary.stat().st_mode  # as the user wants new files; some writers make theirs private
            write(temporary)
            with temporary.open("rb+") as written:
                os.fsync(written.fileno())  # or a power cut could leave the name without the content
            temporary.chmod(mode)
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
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    def write(temporary: Path) -> None:
        try:
            save_file(dict(tensors), temporary, metadata=dict(metadata))
        except SafetensorError as error:  # how it reports a folder that is missing or a disk that is full
            raise OSError(str(error)) from error

    return write_whole(path, write)


def check_folder(path: Path) -> None:
    """Refuse a path for a file in a folder that does not exist."""
    if not path.parent.is_dir():
        raise DovetailError(f"cannot write {path}: there is no folder {path.parent}")
