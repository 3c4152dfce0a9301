"""``dovetail studio``: the address, the port, and the end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from pathlib import Path

import pytest
import uvicorn

from dovetail import DovetailError
from dovetail.commands import studio as command
from dovetail.studio import serve
from dovetail.studio.serve import listen

HELD = """
import sys, time
from dovetail.cli import main
from dovetail.studio.jobs import KINDS
KINDS["demo"] = "held_job"
main()
"""
"""``dovetail``, whose demonstration waits rather than trains: it must not have ended when the studio does."""


def children(process: int) -> list[int]:
    """Return the processes that any thread of a process has started."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return [int(number) for task in tasks for number in (task / "children").read_text().split()]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_line_and_a_clean_end(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "held_job.py").write_text("import time\ndef run(settings, tell):\n    time.sleep(3600)\n")
    command = [sys.executable, "-c", HELD, "studio", str(tmp_path), "--port", "0", "--no-browser"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        line = server.stdout.readline()
        found = re.search(r"(http://127\.0\.0\.1:\d+/)\?token=([0-9a-f]{48})", line)
        assert found, line + server.stderr.read()
        assert str(tmp_path) in line
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        opener.addheaders = [("Sec-Fetch-Site", "none")]  # as browsers do for an address that was typed
        with opener.open(found[0], timeout=120) as answer:
            assert answer.url == found[1]
            assert b"Dovetail studio" in answer.read()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(found[1], timeout=120)
        job = urllib.request.Request(
            f"{found[1]}api/bench/demo", method="POST",
            headers={"Authorization": f"Bearer {found[2]}", "Content-Type": "application/json"},
        )  # fmt: skip
        with urllib.request.urlopen(job, timeout=120) as answer:
            assert json.load(answer)["state"] == "running"
        started = children(server.pid)
        assert len(started) == 1
        server.send_signal(number)
        rest = server.communicate(timeout=120)
    assert server.returncode == 0
    assert rest == ("", "")
    assert not Path(f"/proc/{started[0]}").exists()  # the job has ended before the server


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with listen(0) as taken:
        port = taken.getsockname()[1]
        for path, number, reason in (
            (tmp_path / "gone", None, "does not exist"),
            (tmp_path / "file", None, "is not a folder"),
            (tmp_path, port, f"cannot listen on port {port}: Address already in use; choose another"),
            (tmp_path, 70_000, "70000 is no port"),
        ):
            with pytest.raises(DovetailError, match=reason):
                command.studio(path, port=number, no_browser=True)


def test_next_free_port(monkeypatch: pytest.MonkeyPatch) -> None:
    with listen(0) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(sys.modules["dovetail.studio.serve"], "FIRST_PORT", port)
        with listen(None) as found:
            assert found.getsockname()[0] == "127.0.0.1"
            assert found.getsockname()[1] != port


def test_browser_learns_the_token_from_a_private_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its command line is for all users to see."""
    opened: list[str] = []
    seen: list[tuple[str, int, int]] = []
    said: list[str] = []

    def look(self: uvicorn.Server, sockets: object) -> None:
        while not opened:
            time.sleep(0.01)
        page = Path(opened[0].removeprefix("file://"))
        seen.append((page.read_text(), page.stat().st_mode & 0o777, page.parent.stat().st_mode & 0o777))

    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(uvicorn.Server, "run", look)
    serve(tmp_path, port=0, say=said.append)
    found = re.search(r"http://127\.0\.0\.1:\d+/\?token=([0-9a-f]{48})", said[0])
    assert found
    assert found[1] not in opened[0]
    ((content, *modes),) = seen
    assert f"url={found[0]}" in content
    assert modes == [0o600, 0o700]
    assert not Path(opened[0].removeprefix("file://")).parent.exists()


OPENING = """
import sys, webbrowser
from dovetail.studio import serve
webbrowser.open = lambda url: print(url, flush=True)
serve(sys.argv[1], port=0, say=lambda line: None)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_private_file_goes_however_the_studio_ends(tmp_path: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OPENING, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        page = Path(server.stdout.readline().strip().removeprefix("file://"))
        address = re.search(r"http://127[^\"]*", page.read_text())
        assert address
        with pytest.raises(urllib.error.HTTPError, match="403"):  # it is there, and answers
            urllib.request.urlopen(address[0].partition("?")[0], timeout=120)
        server.send_signal(number)
        server.wait(120)
    assert not page.parent.exists()


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn"])
def test_without_the_extra(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("dovetail.studio", missing))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(
        DovetailError, match=rf"needs the package {missing}: pip install 'dovetail-nn\[studio\]'"
    ):
        command.studio(Path())
