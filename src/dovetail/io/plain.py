"""Plain files, the only kind that is opened: a pipe keeps a reader waiting for ever, and a device never ends."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..errors import FileFormatError
from .bounds import check_shape

if TYPE_CHECKING:
    from torch import Tensor

_NO_WAITING = getattr(os, "O_NONBLOCK", 0)
"""A pipe keeps nobody waiting; Windows has no such flag, nor pipes among its files."""
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
"""Links are refused by the system itself."""
_DESCRIPTORS = Path("/proc/self/fd")
"""Where Linux has a path for each open file."""
_MOST_CHARACTERS = 2**28
"""The longest text that is read, unless whoever reads it says less."""

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a link"),
)


def what_is(path: str | Path, *, links: bool = True) -> str:
    """Return what there is at a path: ``"a file"``, ``"a folder"``, ``"a named pipe"``; nothing where nothing is.

    Parameters
    ----------
    path : path
        What is looked at, and not opened.
    links : bool
        Whether to look at what a link leads to, in place of the link.

    Raises
    ------
    OSError
        When nobody may look, or no file can have this name.

    Examples
    --------
    >>> what_is(__file__), what_is("/dev/null"), what_is("no-such-file")
    ('a file', 'a device', '')
    """
    try:
        mode = Path(path).stat(follow_symlinks=links).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return _named(mode)


def _named(mode: int) -> str:
    return next((name for test, name in _KINDS if test(mode)), "a file")


def check_plain(path: str | Path) -> None:
    """Refuse what is there and neither a file nor a folder.

    Examples
    --------
    >>> check_plain("/dev/zero")
    Traceback (most recent call last):
    dovetail.errors.FileFormatError: cannot open /dev/zero: it is a device; name a file
    """
    what = what_is(path)
    if what not in ("", "a file", "a folder"):
        raise FileFormatError(f"cannot open {path}: it is {what}; name a file")


def open_plain(path: str | Path, mode: str = "rb", *, links: bool = True) -> IO[Any]:
    """Open a file as `open` does, and nothing but a file: without waiting for anybody.

    Parameters
    ----------
    path : path
        The file.
    mode : str
        As for `open`; texts are UTF-8.
    links : bool
        Whether a link may lead to it.

    Raises
    ------
    FileFormatError
        For a pipe, a socket or a device.
    OSError
        When it cannot be opened.
    """
    check_plain(path)  # says what it is; what follows holds even if it changes after this line
    flags_too = _NO_WAITING | (0 if links else _NO_LINKS)
    file = open(  # noqa: SIM115 (whoever asked for it closes it)
        path,
        mode,
        encoding=None if "b" in mode else "utf-8",
        opener=lambda name, flags: os.open(name, flags | flags_too, 0o666),
    )
    found = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(found):
        file.close()
        raise FileFormatError(f"cannot open {path}: it is {_named(found)}; name a file")
    return file


def read_text(path: str | Path, most: int = _MOST_CHARACTERS) -> str:
    """Return a file's text.

    Raises
    ------
    FileFormatError
        For what is no file, and for more than ``most`` characters.
    OSError, UnicodeDecodeError
        When it cannot be read, or not as UTF-8.
    """
    with open_plain(path, "r") as file:
        text: str = file.read(most + 1)
    if len(text) > most:
        raise FileFormatError(f"cannot read {path}: it has more than {most:,} characters")
    return text


@contextmanager
def opened_tensors(path: str | Path) -> Iterator[Any]:
    """Open a ``.safetensors`` file whose tensors have shapes that can be worked with, under any name.

    Raises
    ------
    FileFormatError
        For what is no file, and for shapes that no tensor has.
    OSError, SafetensorError
        When it cannot be opened or is damaged.
    """
    from safetensors import safe_open

    with open_plain(path) as file:
        # The library takes names in UTF-8 only; and what was looked at above is what is read.
        by_number = _DESCRIPTORS / str(file.fileno())
        with safe_open(by_number if by_number.exists() else Path(path), framework="pt") as tensors:
            for name in tensors.keys():  # noqa: SIM118 (a file is no mapping)
                check_shape(name, tensors.get_slice(name).get_shape())
            yield tensors


def tensors_in(file: Any) -> dict[str, Tensor]:
    """Return the tensors of an opened file by name.

    Raises
    ------
    FileFormatError
        For one of a type that PyTorch does not have.
    """
    found = {}
    for name in file.keys():  # noqa: SIM118 (a file is no mapping)
        try:
            found[name] = file.get_tensor(name)
        except (RuntimeError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise FileFormatError(f"its tensor {name!r:.100} cannot be read ({str(error)[:100]})") from error
    return found
