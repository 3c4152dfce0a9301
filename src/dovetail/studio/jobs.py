"""Jobs: long work beside the server, started, watched, cancelled; it goes on when the page is closed."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import threading
import time
from collections.abc import Mapping
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from ..errors import DovetailError, unknown_name
from ..io.fields import nan_to_null
from .folder import MissingError
from .spare import Process, Spare, start_process

KINDS: dict[str, str] = {
    "audit": "dovetail.studio.audit.job",
    "demo": "dovetail.studio.bench.demo_job",
    "grow": "dovetail.studio.grow.job",
    "recipe": "dovetail.studio.runs.job",
}
"""Modules by name of the job; each has ``run(settings: dict, tell: Tell)``, which returns the result as JSON."""


class Tell(Protocol):
    """How a job says how far it is."""

    def __call__(self, done: float, total: float | None, note: str = "", partial: Any = None) -> None:
        """Say that ``done`` of ``total`` is done; ``partial``, if given, is all that there is of the result so far."""


_MOST_RUNNING = 2

_MOST_KEPT = 20

_LONGEST_LINE = 16 * 2**20

_PATIENCE = 2.0
"""Seconds that a job has to end by itself when it is cancelled."""

_LAST_PATIENCE = 30.0
"""Seconds to wait for the system to clear a job away that was killed; it needs some on a busy machine."""


class JobSummary(BaseModel):
    """How a job stands, in short; times are seconds since 1970."""

    id: str
    kind: str
    title: str
    state: Literal["running", "done", "failed", "cancelled"] = "running"
    done: float = 0
    total: float | None = None
    note: str = ""
    error: str | None = None
    started: float
    ended: float | None = None


class JobState(JobSummary):
    """How a job stands, with what it has found, which may be long."""

    partial: Any = None
    result: Any = None


class Job:
    """One process, and how far it is.

    Attributes
    ----------
    state : JobState
        How it stands; replaced, never changed, so it can be read from any thread.
    """

    def __init__(
        self, kind: str, title: str, settings: Mapping[str, Any], process: Process | None = None
    ) -> None:
        self.state = JobState(id=secrets.token_hex(8), kind=kind, title=title, started=time.time())
        self._cancelled = False
        self._process = process or start_process(KINDS[kind])
        self._reader = threading.Thread(target=self._read, args=(settings,), daemon=True)
        self._reader.start()

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.state.state == "running"

    def cancel(self) -> None:
        """End the process, gently and then at once, and wait until it is gone. Nothing happens when it has ended."""
        if self.running:
            self._cancelled = True
            self._signal(signal.SIGTERM)
            self._reader.join(_PATIENCE)
            self._signal(signal.SIGKILL)
        self._reader.join(_LAST_PATIENCE)

    def _read(self, settings: Mapping[str, Any]) -> None:
        """Follow the process to its end."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError):  # it died before it could read; its status says so below
            process.stdin.write(json.dumps(nan_to_null(dict(settings))).encode() + b"\n")
            process.stdin.flush()  # and left open: its end is how the job learns that the server has gone
        error = None
        while not self._answered and (message := process.stdout.readline(_LONGEST_LINE + 1)):
            if len(message) > _LONGEST_LINE:
                error = (
                    f"the job's answer has more than {_LONGEST_LINE // 2**20} MB; choose something smaller"
                )
                break
            with contextlib.suppress(ValueError):  # a line that was cut when the process was ended
                self.state = self.state.model_copy(update=json.loads(message))
        self._signal(signal.SIGKILL)  # all is said; whatever it has started and left behind ends with it
        status = process.wait()
        process.stdin.close()
        process.stdout.close()
        self._end(error, status)

    @property
    def _answered(self) -> bool:
        return not self.state.model_fields_set.isdisjoint(("result", "error"))

    def _end(self, error: str | None, status: int) -> None:
        error = error or self.state.error
        change: dict[str, Any]
        if "result" in self.state.model_fields_set:
            change = {"state": "done", "done": self.state.total or self.state.done}
        elif self._cancelled:
            change = {"state": "cancelled", "error": None}
        else:
            change = {"state": "failed", "error": error or _sudden_end(status)}
        self.state = self.state.model_copy(update={"ended": time.time(), **change})

    def _signal(self, number: int) -> None:
        # The group keeps its number as long as its leader has not been waited for.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


def _sudden_end(status: int) -> str:
    """Return what to say of a process that ended without a word."""
    if status == -signal.SIGKILL:
        return "the job was killed, most likely because memory ran out; choose something smaller"
    return f"the job ended without a result (status {status}); run the same on the command line to see why"


class Jobs:
    """The jobs of a studio: those that run, and the last that ended.

    Examples
    --------
    >>> Jobs().get("nothing")
    Traceback (most recent call last):
    ...
    dovetail.studio.folder.MissingError: there is no job 'nothing'; the studio keeps the last 20
    """

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._open = True
        self._spare = Spare()

    def prepare(self, kind: str) -> None:
        """Have a process ready for a job that is likely to come soon, and to be waited for."""
        if kind not in KINDS:
            raise unknown_name("kind of job", kind, KINDS)
        with self._lock:
            if self._open:
                self._spare.prepare(KINDS[kind])

    def start(self, kind: str, title: str, settings: Mapping[str, Any]) -> JobState:
        """Start a job and return how it stands.

        Parameters
        ----------
        kind : str
            A name in `KINDS`.
        title : str
            What the page calls it.
        settings : mapping
            What the job is given, as JSON.

        Raises
        ------
        DovetailError
            When too many are running.
        """
        if kind not in KINDS:
            raise unknown_name("kind of job", kind, KINDS)
        with self._lock:
            running = [job.state.title for job in self._jobs.values() if job.running]
            if not self._open:
                raise DovetailError("the studio is closing; start it again")
            if len(running) >= _MOST_RUNNING:
                raise DovetailError(
                    f"{len(running)} jobs are running already ({', '.join(running)}); wait for one or cancel it"
                )
            job = Job(kind, title, settings, self._spare.take(KINDS[kind]))
            self._jobs[job.state.id] = job
            ended = [name for name, kept in self._jobs.items() if not kept.running]
            for name in ended[: max(0, len(self._jobs) - _MOST_KEPT)]:
                del self._jobs[name]
        return job.state

    def get(self, job_id: str) -> JobState:
        """Return how a job stands."""
        return self._job(job_id).state

    def all(self) -> list[JobState]:
        """Return how all jobs stand, the latest first."""
        with self._lock:
            return [job.state for job in reversed(self._jobs.values())]

    def cancel(self, job_id: str) -> JobState:
        """End a job, and return how it stands then."""
        job = self._job(job_id)
        job.cancel()
        return job.state

    def stop_all(self) -> None:
        """End all jobs, and start no more."""
        with self._lock:
            self._open = False
            jobs = list(self._jobs.values())
            self._spare.end()
        for job in jobs:
            job.cancel()

    def _job(self, job_id: str) -> Job:
        with self._lock:
            if job_id not in self._jobs:
                raise MissingError(f"there is no job {job_id!r:.40}; the studio keeps the last {_MOST_KEPT}")
            return self._jobs[job_id]
