"""Work beside the server: what it says, how it fails, how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from dovetail import DovetailError
from dovetail.studio import jobs as module
from dovetail.studio.folder import MissingError
from dovetail.studio.jobs import KINDS, Jobs, JobState

EXAMPLE = """
import os, signal, subprocess, sys, time
from pathlib import Path
from dovetail.errors import DovetailError

def run(settings, tell):
    what = settings["what"]
    print("what a job prints goes nowhere")
    if what == "count":
        for n in range(3):
            tell(n, 3, f"step {n}", {"so far": n})
            while n == 1 and not Path(settings["go"]).exists():
                time.sleep(0.01)
        return {"given": settings, "nan": float("nan")}
    if what == "hurry":
        tell(0, 9, "first", {"kept": True})
        for n in range(9):
            tell(n, 9, "fast")
        tell(9, 9, "last")
        time.sleep(3600)
    if what == "no JSON":
        return {1, 2}
    if what == "refuse":
        raise DovetailError("no such thing; choose another")
    if what == "break":
        raise ZeroDivisionError("by zero")
    if what == "fill":
        raise RuntimeError("can't allocate memory: 1 TB")
    if what == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "much":
        return "x" * 2_000_000
    if what == "polite":
        return os.nice(0)
    if what in ("wait", "wait stubbornly"):
        if what == "wait stubbornly":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        try:
            tell(0, None, f"{os.getpid()} {child.pid}")
            time.sleep(3600)
        finally:
            Path(settings["note"]).write_text("cleared up")
"""


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Jobs]:
    """Jobs that know one kind, "example"."""
    (tmp_path / "example_job.py").write_text(EXAMPLE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setitem(KINDS, "example", "example_job")
    made = Jobs()
    yield made
    made.stop_all()


def start(jobs: Jobs, what: str, **settings: object) -> JobState:
    return jobs.start("example", f"Example: {what}", {"what": what, **settings})


def wait(jobs: Jobs, job: JobState, enough: Callable[[JobState], object] = lambda job: job.ended) -> JobState:
    end = time.monotonic() + 120
    while not enough(now := jobs.get(job.id)):
        assert time.monotonic() < end, now
        time.sleep(0.01)
    return now


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def check_gone(processes: list[int]) -> None:
    """Wait until the system has cleared away what was killed."""
    end = time.monotonic() + 60
    while any(map(alive, processes)):
        assert time.monotonic() < end
        time.sleep(0.01)


def processes(jobs: Jobs, job: JobState) -> list[int]:
    return [int(number) for number in wait(jobs, job, lambda now: now.note).note.split()]


def test_progress_and_result(jobs: Jobs, tmp_path: Path) -> None:
    job = start(jobs, "count", text="ä \ud800", go=str(tmp_path / "go"))
    assert (job.state, job.kind, job.title, job.ended) == ("running", "example", "Example: count", None)
    half = wait(jobs, job, lambda now: now.done == 1)
    assert (half.state, half.total, half.partial, half.note) == ("running", 3, {"so far": 1}, "step 1")
    (tmp_path / "go").touch()
    done = wait(jobs, job)
    assert (done.state, done.done, done.error) == ("done", 3, None)
    assert done.result == {
        "given": {"what": "count", "text": "ä \ud800", "go": str(tmp_path / "go")},
        "nan": None,
    }
    assert done.ended is not None
    assert done.ended >= done.started
    assert jobs.cancel(job.id) == done  # too late


def test_a_spare_process_does_the_next_job_of_its_kind(jobs: Jobs) -> None:
    jobs.prepare("example")
    spare = jobs._spare._process
    jobs.prepare("example")
    assert spare is not None
    assert jobs._spare._process is spare
    job = start(jobs, "polite")
    assert jobs._jobs[job.id]._process is spare
    assert jobs._spare._process is None
    assert wait(jobs, job).state == "done"
    assert spare.returncode is not None
    other = start(jobs, "polite")
    assert jobs._jobs[other.id]._process is not spare
    assert wait(jobs, other).state == "done"


def test_a_spare_process_ends_with_the_studio(jobs: Jobs) -> None:
    jobs.prepare("example")
    spare = jobs._spare._process
    assert spare is not None
    jobs.stop_all()
    assert spare.returncode is not None
    jobs.prepare("example")  # it is closing
    assert jobs._spare._process is None
    with pytest.raises(DovetailError, match="kind of job"):
        jobs.prepare("nothing")


def test_the_latest_is_never_lost(jobs: Jobs) -> None:
    now = wait(jobs, start(jobs, "hurry"), lambda now: now.note == "last")
    assert (now.done, now.total, now.partial) == (9, 9, {"kept": True})


@pytest.mark.slow
def test_failures_say_why(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_RUNNING", 5)
    whats = ("refuse", "break", "fill", "die", "no JSON")
    refused, broken, large, died, odd = (start(jobs, what) for what in whats)
    assert wait(jobs, refused).error == "no such thing; choose another"
    assert wait(jobs, broken).error == "internal error: ZeroDivisionError: by zero"
    assert "more memory than there is" in str(wait(jobs, large).error)
    assert "without a result (status -11)" in str(wait(jobs, died).error)
    assert "not JSON serializable" in str(wait(jobs, odd).error)
    assert {job.state for job in jobs.all()} == {"failed"}
    assert [job.id for job in jobs.all()] == [odd.id, died.id, large.id, broken.id, refused.id]


def test_answers_are_bounded(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LONGEST_LINE", 1_000_000)
    job = wait(jobs, start(jobs, "much"))
    assert (job.state, job.result) == ("failed", None)
    assert "choose something smaller" in str(job.error)


def test_jobs_give_way_to_the_server(jobs: Jobs) -> None:
    assert wait(jobs, start(jobs, "polite")).result == min(os.nice(0) + 10, 19)


@pytest.mark.parametrize(("what", "cleared"), [("wait", True), ("wait stubbornly", False)])
def test_cancelling_ends_the_whole_group(
    jobs: Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, cleared: bool
) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 60 if cleared else 0.5)
    note = tmp_path / "note"
    job = start(jobs, what, note=str(note))
    both = processes(jobs, job)
    assert all(map(alive, both))
    ended = jobs.cancel(job.id)
    assert (ended.state, ended.error, ended.result) == ("cancelled", None, None)
    check_gone(both)
    assert note.exists() == cleared


def test_limits(jobs: Jobs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    waiting = [start(jobs, "wait", note=str(tmp_path / "note")) for _ in range(2)]
    with pytest.raises(
        DovetailError, match=r"2 jobs are running already \(Example: wait, Example: wait\); .* cancel"
    ):
        start(jobs, "count")
    jobs.cancel(waiting[0].id)
    monkeypatch.setattr(module, "_MOST_KEPT", 2)
    last = start(jobs, "refuse")
    assert [job.id for job in jobs.all()] == [last.id, waiting[1].id]  # what runs is never forgotten
    with pytest.raises(MissingError, match="no job"):
        jobs.get(waiting[0].id)
    with pytest.raises(DovetailError, match="unknown kind of job 'exampel'; did you mean 'example'"):
        jobs.start("exampel", "", {})


def test_stopping_the_studio_stops_all(jobs: Jobs, tmp_path: Path) -> None:
    job = start(jobs, "wait", note=str(tmp_path / "note"))
    both = processes(jobs, job)
    jobs.stop_all()
    check_gone(both)
    with pytest.raises(DovetailError, match="closing"):
        start(jobs, "refuse")


SERVER = """
import sys
from dovetail.studio.jobs import KINDS
from dovetail.studio.jobs import Jobs
import time
KINDS["example"] = "example_job"
jobs = Jobs()
job = jobs.start("example", "", {"what": "wait", "note": sys.argv[1]})
while not jobs.get(job.id).note:
    time.sleep(0.01)
print(jobs.get(job.id).note, flush=True)
time.sleep(3600)
"""


def test_jobs_end_when_the_server_is_killed(jobs: Jobs, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(tmp_path / "note")], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        both = [int(number) for number in server.stdout.readline().split()]
        assert len(both) == 2
        assert all(map(alive, both))
        server.send_signal(signal.SIGKILL)
    check_gone(both)


def test_routes(client: Callable[[Path], TestClient], jobs: Jobs, tmp_path: Path) -> None:
    with client(tmp_path) as asking:
        assert asking.get("/api/jobs").json() == []
        studio = asking.app.state.studio  # type: ignore[attr-defined]
        job = studio.jobs.start("example", "Waiting", {"what": "wait", "note": str(tmp_path / "note")})
        both = processes(studio.jobs, job)
        (seen,) = asking.get("/api/jobs").json()
        assert set(seen) == {
            "id", "kind", "title", "state", "done", "total", "note", "error", "started", "ended",
        }  # fmt: skip
        assert asking.get(f"/api/jobs/{job.id}").json() == {**seen, "partial": None, "result": None}
        assert asking.delete(f"/api/jobs/{job.id}").json()["state"] == "cancelled"
        check_gone(both)
        assert asking.get("/api/jobs/other").status_code == 404
        other = studio.jobs.start("example", "Waiting", {"what": "wait", "note": str(tmp_path / "note")})
        both = processes(studio.jobs, other)
    check_gone(both)  # with the app
