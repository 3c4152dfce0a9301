"""A process with torch imported that forks a child for each piece of work, and kills it if told to.

Run as a script: a JSON line comes in with pieces of work to do side by side, a JSON line goes out with what became of
each. So a piece costs what it does itself, and not the seconds that importing takes.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_FILE_OPERATIONS = {"open", "os.mkdir", "os.rename", "os.remove", "os.truncate", "os.chmod"}
"""What Python tells of before it is done (its audit events)."""


def main() -> None:
    """Do what is asked until nobody asks any more."""
    sys.path.insert(0, str(ROOT))
    from tests.faults import works

    works.import_all()
    assert threading.active_count() == 1, "threads do not live on in a fork"
    for line in sys.stdin:
        asked = json.loads(line)
        children = [(_start(one), time.monotonic(), one) for one in asked]
        print(json.dumps([_end(pid, begun, one) for pid, begun, one in children]), flush=True)


def _start(asked: dict[str, Any]) -> int:
    Path(asked["said"]).touch()  # a child may be killed before it can
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        said = os.open(asked["said"], os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(said, stream)
        if asked["file_limit"] is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (asked["file_limit"],) * 2)
        count = _watch_operations(asked["folder"], asked["operation"])
        status = _work(asked)
        Path(asked["said"] + ".operations").write_text(str(count()))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _work(asked: dict[str, Any]) -> int:
    from tests.faults import works

    try:
        getattr(works, asked["work"])(*asked["arguments"])
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _watch_operations(folder: str, deadly: int | None) -> Callable[[], int]:
    """Count what is done to files in a folder, and die in the place of one of these operations."""
    count = 0

    def operation() -> None:
        nonlocal count
        count += 1
        if count == deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in _FILE_OPERATIONS and str(arguments[0]).startswith(folder):
            operation()

    fsync = os.fsync

    def counted_fsync(file: int) -> None:
        operation()
        fsync(file)

    sys.addaudithook(hook)
    os.fsync = counted_fsync  # type: ignore[assignment]
    return lambda: count


def _end(pid: int, begun: float, asked: dict[str, Any]) -> dict[str, Any]:
    if asked["after"] is not None:
        _kill_at(pid, begun + asked["after"])
    _, status = os.waitpid(pid, 0)
    counted = Path(asked["said"] + ".operations")
    return {
        "status": os.waitstatus_to_exitcode(status),
        "said": Path(asked["said"]).read_text(errors="replace"),
        "seconds": time.monotonic() - begun,
        "operations": int(counted.read_text()) if counted.exists() else 0,
    }


def _kill_at(pid: int, end: float) -> None:
    """Kill a child at a time, unless it has ended before."""
    while time.monotonic() < end:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)  # nobody has waited for it yet, so the number is still its own


if __name__ == "__main__":
    main()
