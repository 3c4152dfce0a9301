"""A Ray cluster on this machine, of real nodes that can be killed.

Each node is started by the command line in a session of its own, by which all its processes are found again, whoever
their parents are. ``ray stop`` would stop the clusters of everybody.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_ENVIRONMENT = {
    # A lost node is noticed in two seconds rather than in a quarter of a minute.
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_failure_threshold": "4",
    "RAY_DISABLE_IMPORT_WARNING": "1",
}


class Node:
    """A node of a cluster: the processes of a session."""

    def __init__(self, *options: str) -> None:
        command = [
            sys.executable,
            "-m",
            "ray.scripts.scripts",
            "start",
            "--disable-usage-stats",
            "--num-cpus=1",
        ]
        with tempfile.TemporaryFile("w+") as said:
            starting = subprocess.Popen(
                [*command, "--object-store-memory=80000000", *options],
                env={**os.environ, **_ENVIRONMENT},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._session = starting.pid
            if starting.wait(timeout=120):
                self.kill()
                said.seek(0)
                raise RuntimeError(f"Ray did not start: {said.read()}")

    def working(self) -> list[int]:
        """Return the processes that do units at this moment."""
        return [pid for pid in self._processes() if _command(pid).startswith("ray::do_unit")]

    def kill(self) -> None:
        """End all processes as a power cut would."""
        while processes := self._processes():
            for pid in processes:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    def _processes(self) -> list[int]:
        found = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in found if _session(pid) == self._session]


class Cluster:
    """A head with one CPU, and further nodes."""

    def __init__(self) -> None:
        # Not in pytest's folder: its name is too long for the sockets in it.
        self._folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
        self._nodes: list[Node] = []
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self.head = self._start(
            "--head",
            f"--port={port}",
            f"--temp-dir={self._folder}",
            "--include-dashboard=false",
            "--num-gpus=0",
        )

    def add_node(self, *, gpus: int = 0) -> Node:
        """Start another node with one CPU; GPUs are only said to be there."""
        return self._start(f"--address={self.address}", f"--num-gpus={gpus}")

    def stop(self) -> None:
        """End all nodes."""
        for node in self._nodes:
            node.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, *options: str) -> Node:
        try:
            self._nodes.append(Node(*options))
        except BaseException:
            self.stop()
            raise
        return self._nodes[-1]


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _session(pid: int) -> int | None:
    """Return the session of a process; none if it has ended."""
    try:
        state, _, _, session = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
    except OSError:
        return None
    return None if state == "Z" else int(session)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""
