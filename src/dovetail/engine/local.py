"""Units on this machine: on every GPU, with what needs none on the cores beside; without a GPU on every core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from queue import Empty, Queue
from typing import IO

from ..recipes import Unit
from . import machine
from .perform import Outcome, perform, trains_networks

_ATTEMPTS = 3
"""How many workers may die over a unit before it is given up."""


class LocalEngine:
    """Does units in processes of their own, one at a time on each place.

    Parameters
    ----------
    jobs : int, optional
        The most workers on each GPU, and on the CPU; see `machine.places`. Several on one GPU pay where one unit does
        not fill it, best with NVIDIA's Multi-Process Service running.
    device : str, optional
        Train networks there only; what has no use for a GPU runs on the CPU all the same.

    Attributes
    ----------
    places : list of str
        The device of each worker; beside GPUs, units that have no use for one get workers of their own.
    """

    def __init__(self, *, jobs: int | None = None, device: str | None = None) -> None:
        self.places = machine.places(jobs, device)
        self._jobs = jobs

    def run(self, units: Sequence[Unit]) -> Iterator[Outcome]:
        """Do units and yield what became of each, in the order in which they end."""
        shares = self._shares(units)
        if sum(min(len(places), len(share)) for places, share in shares) <= 1:
            for places, share in shares:
                for unit in share:
                    yield perform(unit, places[0])
            return
        done: Queue[Outcome | BaseException] = Queue()
        crew: list[_Worker] = []
        try:
            for places, share in shares:
                waiting: Queue[Unit] = Queue()
                for unit in share:
                    waiting.put(unit)
                for place in places[: len(share)]:
                    crew.append(_Worker(place))
                    threading.Thread(target=crew[-1].serve, args=(waiting, done), daemon=True).start()
            for _ in units:
                outcome = _next(done)
                if isinstance(outcome, BaseException):
                    raise outcome
                yield outcome
        finally:
            for worker in crew:
                worker.stop()

    def _shares(self, units: Sequence[Unit]) -> list[tuple[list[str], list[Unit]]]:
        """Return units with the places that do them: GPUs are kept free of what has no use for one."""
        if self.places[0] == "cpu":
            return [(self.places, list(units))]
        trains = [trains_networks(unit) for unit in units]
        on_gpu = [unit for unit, networks in zip(units, trains, strict=True) if networks]
        on_cpu = [unit for unit, networks in zip(units, trains, strict=True) if not networks]
        cores = machine.places(device="cpu")
        # Whatever works on a GPU takes a core too.
        beside = cores[len(self.places) :] or cores[:1]
        return [(self.places, on_gpu), (beside[: self._jobs], on_cpu)]


def _next(done: Queue[Outcome | BaseException]) -> Outcome | BaseException:
    while True:
        try:
            # A wait without end cannot be interrupted everywhere.
            return done.get(timeout=1.0)
        except Empty:
            continue


class _Worker:
    """A process on one place, started when there is work and again if it dies."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._process: subprocess.Popen[str] | None = None
        self._messages: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._stopped = False
        self._starting = threading.Lock()

    def serve(self, waiting: Queue[Unit], done: Queue[Outcome | BaseException]) -> None:
        """Do units until none is waiting."""
        try:
            while not self._stopped:
                try:
                    unit = waiting.get_nowait()
                except Empty:
                    break
                done.put(self._do(unit))
        except BaseException as error:
            done.put(error)
        finally:
            self.stop()

    def _do(self, unit: Unit) -> Outcome:
        status, begun = 0, os.fstat(self._messages.fileno()).st_size
        for _ in range(_ATTEMPTS):
            process = self._start()
            if process is None:
                break
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(json.dumps({"work": unit.work, "settings": unit.settings}) + "\n")
                process.stdin.flush()
                reply = process.stdout.readline()
            except OSError:  # it died before it could read
                reply = ""
            if reply.endswith("\n"):
                return Outcome(unit, **json.loads(reply))
            status = process.wait()
            if self._stopped:
                break
        said = self._last_words(begun)
        return Outcome(
            unit,
            error=f"the process that did it died {_ATTEMPTS} times ({_reason(status)}){said and ': '}{said}",
        )

    def _start(self) -> subprocess.Popen[str] | None:
        """Return the process, started if need be; none once all is to stop."""
        with self._starting:
            return None if self._stopped else self._running()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "dovetail.engine.worker", self._place],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._messages,
                text=True,
                env={**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")},
                start_new_session=True,  # Ctrl-C is for the one that leads
            )
        return self._process

    def _last_words(self, begun: int) -> str:
        """Return the last line that the process wrote after the first ``begun`` bytes of its messages."""
        self._messages.seek(begun)
        lines = self._messages.read().decode(errors="replace").split("\n")
        return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        with self._starting:
            self._stopped = True
            if self._process is not None:
                self._process.kill()
                self._process.wait()


def _reason(status: int) -> str:
    """Return what a status of a process means.

    Examples
    --------
    >>> _reason(-9), _reason(1)
    ('killed, perhaps for want of memory', 'status 1')
    """
    if status == -9:
        return "killed, perhaps for want of memory"
    return f"signal {-status}" if status < 0 else f"status {status}"
