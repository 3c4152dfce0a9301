"""Finished units of run folders, read again only when their file has changed."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path

from ...engine import results_file
from ...errors import FileFormatError
from ...recipes import Finished
from ..folder import StudioFolder
from ..made_once import MadeOnce

_MOST_BYTES = 64 * 2**20
"""Of a file that is read, and of all files whose units are kept in memory."""


class Results:
    """What ``results.jsonl`` files hold, by their folder.

    Parameters
    ----------
    folder : StudioFolder
        Where they are.
    """

    def __init__(self, folder: StudioFolder) -> None:
        self._folder = folder
        self._kept = MadeOnce[tuple[int, Mapping[str, Finished]]](_MOST_BYTES, itemgetter(0))

    def of(self, folder: Path) -> Mapping[str, Finished]:
        """Return the finished units of a folder by key; none where there is no file."""
        named = folder / results_file.NAME
        if not named.exists():
            return {}
        path = self._folder.existing(self._folder.relative(named), _MOST_BYTES)
        status = path.stat()
        key = (path, status.st_mtime_ns, status.st_size)
        return self._kept.get(key, lambda: (status.st_size, self._read(path)))[1]

    def _read(self, path: Path) -> Mapping[str, Finished]:
        try:
            return results_file.read_results(path)
        except (RecursionError, OverflowError) as error:  # JSON that is deeper or larger than any of ours
            raise FileFormatError(
                f"{self._folder.relative(path)!r} is damaged; run the recipe again"
            ) from error

    def changed(self, folder: Path) -> float | None:
        """Return when the last unit was added, in seconds since 1970; nothing before the first."""
        try:
            return (folder / results_file.NAME).stat().st_mtime
        except OSError:
            return None
