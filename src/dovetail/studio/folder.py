"""The one folder that the studio may see, and which names in it may be opened."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..errors import DovetailError

MOST_BYTES = 512 * 2**20
"""The largest file that is opened, unless a view asks for less."""

_MOST_FILES = 2_000
_MOST_ENTRIES = 50_000
_MOST_DEPTH = 8
_LONGEST_NAME = 1_000


class MissingError(DovetailError):
    """Something asked for by name that does not exist, or no longer does."""


@dataclass(frozen=True)
class FoundFile:
    """A file in the folder: its name relative to it, its bytes, and when it was written (seconds since 1970)."""

    name: str
    size: int
    modified: float


class Version(NamedTuple):
    """A file as it is now: one that is written anew is another version."""

    path: Path
    modified: int
    size: int


@dataclass(frozen=True)
class Listing:
    """Files that were found, sorted by name; ``complete`` is false where there were too many to look at all."""

    files: list[FoundFile]
    complete: bool


class StudioFolder:
    """A folder, and the only way from a name that a browser sent to a path.

    Names are relative, with forward slashes. Those that start with a dot are hidden, here as elsewhere.

    Parameters
    ----------
    root : path
        The folder.

    Raises
    ------
    DovetailError
        When there is no such folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     StudioFolder(root).resolve("../secrets.txt")
    Traceback (most recent call last):
    ...
    dovetail.errors.DovetailError: '../secrets.txt' is not in the studio's folder; name a file relative to it
    """

    def __init__(self, root: str | Path) -> None:
        path = Path(root)
        if not path.is_dir():
            state = "is not a folder" if path.exists() else "does not exist"
            raise DovetailError(f"{str(root)!r} {state}; name the folder that the studio shall show")
        self.root = path.resolve()

    def resolve(self, name: str) -> Path:
        """Return the path of a name, which need not exist.

        Raises
        ------
        DovetailError
            For a name that is no plain relative one, is hidden, or leads out of the folder over a link.
        """
        names = _split(name)
        path = self.root.joinpath(*names)
        try:
            real = path.resolve()
        except (OSError, RuntimeError) as error:  # a name longer than the system's, or links in a circle
            raise DovetailError(f"{name!r:.100} cannot be looked up; name another file") from error
        # What a link points to must be allowed under its own name as well.
        if not real.is_relative_to(self.root) or any(
            p.startswith(".") for p in real.relative_to(self.root).parts
        ):
            raise DovetailError(f"{name!r:.100} leads out of the studio's folder; name a file in it")
        return real

    def existing(self, name: str, limit: int = MOST_BYTES) -> Path:
        """Return the path of a file that is there and may be read: a regular one, and not too large.

        Raises
        ------
        MissingError
            When there is no such file.
        """
        path = self.resolve(name)
        self.check_size(path, limit)
        return path

    def version(self, name: str, limit: int = MOST_BYTES) -> Version:
        """Return a file that is there and may be read, in the version that it has now."""
        path = self.existing(name, limit)
        status = path.stat()
        return Version(path, status.st_mtime_ns, status.st_size)

    def without_root(self, text: str) -> str:
        """Return a text with files named as the folder does, not by where it is on the disk."""
        return text.replace(f"{self.root}/", "")

    def relative(self, path: Path) -> str:
        """Return the name of a path in the folder."""
        return path.relative_to(self.root).as_posix()

    def check_size(self, path: Path, limit: int = MOST_BYTES) -> None:
        """Refuse what is no regular file, or has more bytes than ``limit``, before anything of it is read."""
        name = self.relative(path)
        try:
            status = path.stat()
        except OSError as error:
            raise MissingError(
                f"there is no file {name!r} in the studio's folder; look at the list again"
            ) from error
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "no regular file"
            raise DovetailError(f"{name!r} is {kind}; name a file")
        if status.st_size > limit:
            raise DovetailError(
                f"{name!r} has {status.st_size / 2**20:,.0f} MB, more than the {limit / 2**20:,.0f} MB that the studio "
                "opens; use the command line for it"
            )

    def find(self, endings: tuple[str, ...], *, most: int = _MOST_FILES, depth: int = _MOST_DEPTH) -> Listing:
        """Return files whose names end so, the nearest to the root first where there are more than ``most``.

        Links to folders are not followed, and hidden names are left out.

        Parameters
        ----------
        endings : tuple of str
            Such as ``(".safetensors", ".pt")``, or whole names: ``("results.jsonl",)``.
        most : int
            How many files to return.
        depth : int
            How many folders deep to look.
        """
        found: list[FoundFile] = []
        complete = True
        seen = 0
        waiting = deque([(self.root, 0)])
        while waiting and complete:
            folder, level = waiting.popleft()
            for entry in _entries(folder):
                seen += 1
                if seen > _MOST_ENTRIES:
                    complete = False
                    break
                if entry.is_dir(follow_symlinks=False):
                    if level < depth:
                        waiting.append((Path(entry.path), level + 1))
                    else:
                        complete = False
                elif entry.name.endswith(endings) and (file := self._found(Path(entry.path))):
                    if len(found) == most:
                        complete = False
                        break
                    found.append(file)
        return Listing(sorted(found, key=lambda file: file.name), complete)

    def _found(self, path: Path) -> FoundFile | None:
        name = self.relative(path)
        try:
            status = self.resolve(name).stat()
        except (DovetailError, OSError):  # a link that leads nowhere or out of the folder
            return None
        return FoundFile(name, status.st_size, status.st_mtime) if stat.S_ISREG(status.st_mode) else None


def inside(name: str, file: str) -> str:
    """Return the name of a file in a folder that has a name.

    Examples
    --------
    >>> inside("runs/k-smoke", "table.md"), inside(".", "table.md")
    ('runs/k-smoke/table.md', 'table.md')
    """
    return file if name == "." else f"{name}/{file}"


def _split(name: str) -> list[str]:
    """Return the folders and the file of a plain relative name, or refuse it."""
    if not name.strip():
        raise DovetailError("a name is missing; name a file relative to the studio's folder")
    names = name.split("/")
    if not 0 < len(name) <= _LONGEST_NAME or any(one in ("", "..") for one in names) or not _is_text(name):
        raise DovetailError(f"{name!r:.100} is not in the studio's folder; name a file relative to it")
    if any(one.startswith(".") for one in names):
        raise DovetailError(f"{name!r:.100} is hidden; name a file without a dot in front")
    return names


def _is_text(name: str) -> bool:
    """Return whether a name can be shown and sent: no control characters, no bytes that are not UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return not any(ord(sign) < 32 or sign in "\\\x7f" for sign in name)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Return what a folder holds and shows, in order of name; nothing where it may not be read."""
    try:
        with os.scandir(folder) as entries:
            shown = [entry for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return iter(())
    return iter(sorted(shown, key=lambda entry: entry.name))
