"""Ask the warm process for work, from a test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

_SCRIPT = Path(__file__).with_name("warm_process.py")
_KILLED = -9


@dataclass(frozen=True)
class Work:
    """A function in `works`, its arguments, and the folder that it writes to."""

    name: str
    arguments: Sequence[str]
    folder: Path


@dataclass(frozen=True)
class Moment:
    """When to kill: after some seconds, or in the place of the n-th operation on a file in the folder."""

    seconds: float | None = None
    operation: int | None = None


NEVER = Moment()


@dataclass(frozen=True)
class Outcome:
    """What became of a piece of work: its exit status, what it printed, how long it took, operations on files."""

    status: int
    said: str
    seconds: float
    operations: int

    @property
    def killed(self) -> bool:
        return self.status == _KILLED


class Warm:
    """The warm process; a context manager."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # One thread: those that torch has started do not live on in a fork.
            env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )

    def do(self, work: Work, kill: Moment = NEVER, *, file_limit: int | None = None) -> Outcome:
        """Do a piece of work: to its end, or until it is killed; with no file longer than a limit, if there is one."""
        return self._ask([work], kill, file_limit)[0]

    def at_once(self, *works: Work) -> list[Outcome]:
        """Do pieces of work side by side."""
        return self._ask(works, NEVER, None)

    def _ask(self, works: Sequence[Work], kill: Moment, file_limit: int | None) -> list[Outcome]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = [
            {
                "work": work.name,
                "arguments": work.arguments,
                "folder": str(work.folder),
                "after": kill.seconds,
                "operation": kill.operation,
                "file_limit": file_limit,
                "said": str(self._folder / f"said-{number}"),
            }
            for number, work in enumerate(works)
        ]
        for old in self._folder.glob("said-*"):
            old.unlink()
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return [Outcome(**one) for one in json.loads(self._process.stdout.readline())]

    def __enter__(self) -> Warm:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
