"""Finished units of run folders, read again only when their file has changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

from ...engine import results_file
from ...errors import FileFormatError
from ...recipes import Finished
from ..folder import StudioFolder

_MOST_BYTES = 64 * 2**20
_MOST_KEPT = 256


class Results:
    """What ``results.jsonl`` files hold, by their folder.

    Parameters
    ----------
    folder : StudioFolder
        Where they are.
    """

    def __init__(self, folder: StudioFolder) -> None:
        self._folder = folder
        self._kept: OrderedDict[Path, tuple[tuple[int, int], Mapping[str, Finished]]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, folder: Path) -> Mapping[str, Finished]:
        """Return the finished units of a folder by key; none where there is no file."""
        named = folder / results_file.NAME
        if not named.exists():
            return {}
        path = self._folder.existing(self._folder.relative(named), _MOST_BYTES)
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_size)
        with self._lock:
            if path in self._kept and self._kept[path][0] == stamp:
                self._kept.move_to_end(path)
                return self._kept[path][1]
        try:
            found = results_file.read_results(path)
        except (RecursionError, OverflowError) as error:  # JSON that is deeper or larger than any of ours
            raise FileFormatError(
                f"{self._folder.relative(path)!r} is damaged; run the recipe again"
            ) from error
        with self._lock:
            self._kept[path] = (stamp, found)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return found

    def changed(self, folder: Path) -> float | None:
        """Return when the last unit was added, in seconds since 1970; nothing before the first."""
        try:
            return (folder / results_file.NAME).stat().st_mtime
        except OSError:
            return None
