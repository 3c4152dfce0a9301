"""Read many files of which one may be damaged: the others are still worth a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from ...errors import FileFormatError

Read = TypeVar("Read")


def read_each(
    files: Iterable[Path], read: Callable[[Path], Read]
) -> tuple[dict[Path, Read], tuple[str, ...]]:
    """Return what files hold, and for each that cannot be read a sentence that names it and says why."""
    found: dict[Path, Read] = {}
    damaged = []
    for file in files:
        try:
            found[file] = read(file)
        except FileFormatError as error:
            damaged.append(str(error).replace(str(file), file.name))
    return found, tuple(damaged)
