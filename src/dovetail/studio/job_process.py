"""The process of one job: ``python -m dovetail.studio.job_process MODULE``, settings in, JSON lines out.

The server sends the settings as one line and keeps the pipe open. When it is gone, the pipe ends, and so does the job.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from importlib import import_module
from typing import Any, BinaryIO, NoReturn

from ..errors import DovetailError, memory_is_full
from ..io.fields import nan_to_null

_PAUSE = 0.1
"""Seconds between two messages about progress; what comes faster nobody sees."""


class _Line:
    """The way out: one JSON object a line. What comes too fast waits, and only the latest of it is sent."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._waiting: dict[str, object] = {}
        self._last = float("-inf")
        threading.Thread(target=self._follow, daemon=True).start()

    def tell(self, done: float, total: float | None, note: str = "", partial: Any = None) -> None:
        with self._lock:
            self._waiting |= {"done": done, "total": total, "note": note}
            if partial is not None:
                self._waiting["partial"] = partial
            if time.monotonic() - self._last >= _PAUSE:
                self._send_waiting()

    def end(self, **message: object) -> None:
        with self._lock:
            self._send_waiting()
            self._send(message)

    def _follow(self) -> None:
        while True:
            time.sleep(_PAUSE)
            with self._lock:
                self._send_waiting()

    def _send_waiting(self) -> None:
        if self._waiting:
            message, self._waiting = self._waiting, {}
            self._last = time.monotonic()
            self._send(message)

    def _send(self, message: dict[str, object]) -> None:
        self._out.write(json.dumps(nan_to_null(message)).encode() + b"\n")
        self._out.flush()


def main() -> None:
    """Do the job that the arguments and the first line of the input name."""
    line = _Line(_take_output())
    with contextlib.suppress(OSError):  # where it is not allowed, the job is merely not polite
        os.nice(10)
    signal.signal(signal.SIGTERM, _leave)
    try:
        module = import_module(sys.argv[1])  # before the settings are there, which may take a while
        given = sys.stdin.buffer.readline()
        if not given:  # there is no job after all
            return
        threading.Thread(target=_end_with_server, daemon=True).start()
        result = module.run(json.loads(given), line.tell)
        line.end(result=result)
    except DovetailError as error:
        line.end(error=str(error))
    except Exception as error:
        if memory_is_full(error):
            line.end(error="the job needs more memory than there is; choose something smaller")
        else:
            line.end(error=f"internal error: {type(error).__name__}: {error}")


def _take_output() -> BinaryIO:
    """Return the way out, and send what anything else prints nowhere."""
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return out


def _leave(*_: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)  # an exception, so that half-written files are cleared away


def _end_with_server() -> None:
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)  # with all that the job has started


if __name__ == "__main__":
    main()
