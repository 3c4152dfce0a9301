"""Stopping: Ctrl-C and SIGTERM end a command in the same way, and it says how much is safe."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .output import say

INTERRUPTED = 130
"""The status that shells expect of a command ended by Ctrl-C."""
_TERMINATED = 128 + signal.SIGTERM


class Stopping:
    """How a command is stopped, and with which status it then ends.

    Examples
    --------
    >>> Stopping().status
    130
    """

    def __init__(self) -> None:
        self.status = INTERRUPTED

    def listen(self) -> None:
        """Take SIGTERM, which schedulers and containers send, for Ctrl-C, unless somebody has other plans for it."""
        on_main_thread = threading.current_thread() is threading.main_thread()
        if on_main_thread and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._stop)

    def _stop(self, *_: object) -> None:
        self.status = _TERMINATED
        raise KeyboardInterrupt


@contextmanager
def safe_when_stopped(what: str, place: Path, count: Callable[[], int]) -> Iterator[None]:
    """Say of a command that is stopped how much of its work is kept.

    Parameters
    ----------
    what : str
        What is counted, such as ``"specialists"``.
    place : Path
        Where they are.
    count : callable
        Returns how many are there now.
    """
    try:
        yield
    except KeyboardInterrupt:
        say(f"{count():,} {what} are safe in {place}; the same command goes on with the others.", err=True)
        raise
