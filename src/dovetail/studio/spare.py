"""Processes of jobs: started with the job, or a little before, so that whoever waits does not wait for imports."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

KEPT = 300.0
"""Seconds that a spare process waits for its job; it holds some hundred MB."""

Process = subprocess.Popen[bytes]


def start_process(module: str) -> Process:
    """Start the process of a job, which waits for its settings."""
    # A group of its own: what the job starts ends with it, and Ctrl-C in the terminal reaches the server alone.
    # -P: nothing is imported from the folder that the server was started in, whatever is in there.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "dovetail.studio.job_process", module],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


class Spare:
    """At most one process that has been started before its job; safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._module = ""
        self._process: Process | None = None
        self._timer: threading.Timer | None = None

    def prepare(self, module: str) -> None:
        """Have a process ready for a module, for a while; the one that there is waits anew."""
        with self._lock:
            if self._module != module or self._process is None or self._process.poll() is not None:
                self._end()
                self._module, self._process = module, start_process(module)
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(KEPT, self.end)
            self._timer.daemon = True
            self._timer.start()

    def take(self, module: str) -> Process | None:
        """Return the process that is ready for a module, from now on the caller's; None where there is none."""
        with self._lock:
            if self._process is None or self._module != module or self._process.poll() is not None:
                return None
            process, self._process = self._process, None
            return process

    def end(self) -> None:
        """End the process, if it still waits."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
