"""Writing: a file is there whole or not at all, and nothing is replaced but a file."""

from __future__ import annotations

import errno
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DovetailError
from .lock import lock_file
from .plain import what_is

if TYPE_CHECKING:
    from torch import Tensor

_PART = re.compile(r"\..+\.[0-9a-f]{8}\.part", re.DOTALL)
"""How files are called that are being written; only ours are."""
_ABANDONED = 3600
"""Seconds without a change after which such a file is taken for what a kill has left, where the disk has no locks."""
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL)


def write_whole(path: str | Path, write: Callable[[Path], object], *, replace: bool = True) -> Path:
    """Write a file under another name and rename it when it is complete.

    What killed processes have left in the folder of files that they were writing is removed.

    Parameters
    ----------
    path : path
        Where the file shall be.
    write : callable
        Writes the file to the path that it is given.
    replace : bool
        Whether a file that is there is replaced, even if it came while this one was written.

    Raises
    ------
    DovetailError
        When the file cannot be written, or what is there is not to be replaced: links, devices and pipes never are. An
        existing file is left as it was.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/a.txt", lambda path: path.write_text("all of it")).read_text()
    'all of it'
    """
    path = Path(path)
    check_place(path)
    try:
        _remove_abandoned(path.parent)
        with _unfinished(path) as temporary:
            write(temporary)
            with temporary.open("rb+") as written:
                os.fsync(written.fileno())  # or a power cut could leave the name without the content
            _rename(temporary, path, replace=replace)
            _sync(path.parent)
    except FileExistsError as error:
        raise in_the_way(path) from error
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = error.strerror if isinstance(error, OSError) else None
        raise DovetailError(f"cannot write {path}: {reason or error}") from error
    return path


def write_tensors(
    path: str | Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str], *, replace: bool = True
) -> Path:
    """Write a ``.safetensors`` file, whole or not at all."""
    from safetensors.torch import save

    # Not save_file: it writes to a temporary file of its own beside ours, whose name nobody knows after a kill.
    return write_whole(
        path, lambda temporary: temporary.write_bytes(save(dict(tensors), dict(metadata))), replace=replace
    )


def write_together(files: Mapping[Path, Callable[[Path], object] | None]) -> None:
    """Write files of one folder that belong together: the last of them is there only with all the others.

    Parameters
    ----------
    files : mapping of Path to callable or None
        What writes each file to the path that it is given; None for one that is to go.

    Raises
    ------
    DovetailError
        When one cannot be written; what is there is left as it was.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     a, b = (Path(folder) / name for name in ("a.txt", "b.txt"))
    ...     write_together({a: lambda path: path.write_text("a"), b: lambda path: path.write_text("b")})
    ...     a.read_text() + b.read_text()
    'ab'
    """
    last = list(files)[-1]
    for path in files:
        check_place(path)
    path = last
    try:
        _remove_abandoned(last.parent)
        with ExitStack() as unfinished:
            written: dict[Path, Path] = {}
            for path, write in files.items():
                if write is not None:
                    written[path] = temporary = unfinished.enter_context(_unfinished(path))
                    write(temporary)
                    with temporary.open("rb+") as file:
                        os.fsync(file.fileno())
            # A kill from here on leaves no mixture: without its last file the old is there no more, nor is the new.
            last.unlink(missing_ok=True)
            _sync(last.parent)
            for path, temporary in written.items():
                if path == last:
                    for other in files.keys() - written.keys():
                        other.unlink(missing_ok=True)
                    _sync(last.parent)
                temporary.replace(path)
            _sync(last.parent)
    except OSError as error:
        raise DovetailError(f"cannot write {path}: {error.strerror or error}") from error


def in_the_way(path: Path) -> DovetailError:
    """Return the error for a file that is not to be replaced."""
    return DovetailError(f"{path} is in the way; replace it (--force), or choose another name")


def check_place(path: Path) -> None:
    """Refuse a place for a file in a folder that does not exist, and one that a folder, link or device has.

    Examples
    --------
    >>> check_place(Path("/dev/null"))
    Traceback (most recent call last):
    dovetail.errors.DovetailError: cannot write /dev/null: it is a device; name a file
    """
    try:
        there, what = path.parent.is_dir(), what_is(path, links=False)
    except (OSError, ValueError) as error:  # such as a name that is too long
        reason = error.strerror if isinstance(error, OSError) else None
        raise DovetailError(f"cannot write {path}: {reason or error}") from error
    if not there:
        raise DovetailError(f"cannot write {path}: there is no folder {path.parent}")
    if what not in ("", "a file"):
        raise DovetailError(f"cannot write {path}: it is {what}; name a file")


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """Give a path for what is not yet that file; it is locked, so that others see that somebody writes to it."""
    temporary, held = _new_part(path)
    if os.name == "nt":  # there, nothing that is open can be renamed
        os.close(held)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
        if os.name != "nt":
            os.close(held)


def _new_part(path: Path) -> tuple[Path, int]:
    """Return a file of this process alone, and its open number."""
    while True:
        # In the same folder, so that the last step is a rename, which is all or nothing.
        temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
        held = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        try:
            # Somebody may have taken it for an abandoned one before it was locked.
            mine = lock_file(held) and os.fstat(held).st_nlink > 0
        except OSError:  # the disk has no locks: its age will say whether it was abandoned
            mine = True
        if mine:
            return temporary, held
        os.close(held)
        temporary.unlink(missing_ok=True)


def _rename(temporary: Path, path: Path, *, replace: bool) -> None:
    if replace:
        temporary.replace(path)
        return
    try:
        os.link(temporary, path)  # unlike a rename, this fails when somebody was faster
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from error
        temporary.replace(path)


def _sync(folder: Path) -> None:
    """Put the new name on the disk, too, where folders can be synced."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _remove_abandoned(folder: Path) -> None:
    """Remove what writers have left that were killed; not what others are writing now."""
    with suppress(OSError):  # another process may do the same
        for entry in list(os.scandir(folder)):
            if _PART.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(part: Path) -> None:
    opened = os.open(part, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        try:
            abandoned = os.name != "nt" and lock_file(opened)
        except OSError:
            abandoned = time.time() - os.fstat(opened).st_mtime > _ABANDONED
        if abandoned:
            part.unlink()
    finally:
        os.close(opened)
