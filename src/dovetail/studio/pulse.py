"""The studio's pulse: what every page asks for now and then, so it must cost little however many pages ask."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable

from fastapi import APIRouter
from pydantic import BaseModel

from ..cluster.audit_folder import FILE as AUDIT
from ..engine import results_file
from ..engine.run_folder import CONFIG
from .audit.settings import ENDINGS
from .folder import FoundFile, StudioFolder
from .jobs import JobState, JobSummary
from .studio import Studio, StudioOf

router = APIRouter(prefix="/api/pulse", tags=["pulse"])

KINDS: dict[str, tuple[str, ...]] = {
    "weights": (*ENDINGS, ".json"),
    "audits": (AUDIT,),
    "runs": (CONFIG, results_file.NAME),
}
"""Kinds of files that views list, and how their names end."""

_LEAST = 1.0
"""Seconds for which a look at the folder holds."""
_SHARE = 20
"""How many times as long as a look took it holds at least: large folders are looked at less often."""


class Pulse(BaseModel):
    """The jobs that run, and for each kind of files a text that changes when they do."""

    jobs: list[JobSummary]
    files: dict[str, str]


class FolderWatch:
    """Says whether files in a folder are as they were, without looking each time that it is asked.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> seconds = iter([0, 0, 0.5, 5, 5])
    >>> with tempfile.TemporaryDirectory() as root:
    ...     watch = FolderWatch(StudioFolder(root), lambda: next(seconds))
    ...     before = watch.files()
    ...     Path(root, "new.safetensors").touch()
    ...     soon, later = watch.files(), watch.files()
    >>> soon == before, [kind for kind in before if before[kind] != later[kind]]
    (True, ['weights'])
    """

    def __init__(self, folder: StudioFolder, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()
        self._until = float("-inf")
        self._files: dict[str, str] = {}

    def files(self) -> dict[str, str]:
        """Return a text for each kind of files: another one when a file has come, gone or been written anew."""
        with self._lock:
            begun = self._clock()
            if begun >= self._until:
                found = self._folder.find(
                    tuple(dict.fromkeys(end for ends in KINDS.values() for end in ends))
                ).files
                self._files = {
                    kind: _text([file for file in found if file.name.endswith(ends)])
                    for kind, ends in KINDS.items()
                }
                ended = self._clock()
                self._until = ended + max(_LEAST, _SHARE * (ended - begun))
            return self._files


def _text(files: list[FoundFile]) -> str:
    return hashlib.sha256(repr(files).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _watch_of(studio: Studio) -> FolderWatch:
    return FolderWatch(studio.folder)


@router.get("", response_model=Pulse)
def pulse(studio: StudioOf) -> dict[str, list[JobState] | dict[str, str]]:
    """Return which jobs run, and whether the folder is as it was."""
    running = [job for job in studio.jobs.all() if job.state == "running"]
    return {"jobs": running, "files": studio.shared(_watch_of).files()}
