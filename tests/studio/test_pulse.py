"""The studio's pulse: jobs that run, and texts that change with the files of each kind and with nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dovetail.studio.folder import StudioFolder
from dovetail.studio.jobs import Jobs, JobState
from dovetail.studio.pulse import FolderWatch

from .conftest import ClientOf


class Clock:
    """A clock that stands still while a folder is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def changed(watch: FolderWatch, before: dict[str, str], clock: Clock) -> list[str]:
    clock.now += 100
    return [kind for kind, text in watch.files().items() if text != before[kind]]


def test_each_kind_of_file_has_a_text_of_its_own(tmp_path: Path) -> None:
    clock = Clock()
    watch = FolderWatch(StudioFolder(tmp_path), clock)
    (tmp_path / "deep/er").mkdir(parents=True)
    for name, kinds in {
        "a.safetensors": ["weights"],
        "deep/er/audit.json": ["weights", "audits"],  # files of modules are JSON, too
        "deep/config.yaml": ["runs"],
        "deep/results.jsonl": ["runs"],
        "notes.txt": [],
        ".hidden.safetensors": [],
    }.items():
        before = watch.files()
        path = tmp_path / name
        path.write_text("1")
        assert changed(watch, before, clock) == kinds, name
        before = watch.files()
        path.write_text("12")
        assert changed(watch, before, clock) == kinds, name
        before = watch.files()
        os.utime(path, (1, 1))
        assert changed(watch, before, clock) == kinds, name
        before = watch.files()
        path.unlink()
        assert changed(watch, before, clock) == kinds, name


def test_a_folder_that_takes_long_is_looked_at_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    looks = []
    folder = StudioFolder(tmp_path)
    find = folder.find

    def slowly(*args: object) -> object:
        looks.append(now[0])
        now[0] += 3.0
        return find(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(folder, "find", slowly)
    watch = FolderWatch(folder, lambda: now[0])
    for _ in range(100):
        watch.files()
        now[0] += 1.0
    assert looks == [0.0, 63.0]


def test_the_route_says_what_runs(client: ClientOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    studio = client(tmp_path)
    jobs = [
        JobState(id="1", kind="audit", title="an audit", started=0.0, partial="long"),
        JobState(id="2", kind="audit", title="another", started=0.0, state="done", result="long"),
    ]
    monkeypatch.setattr(Jobs, "all", lambda _: jobs)
    said = studio.get("/api/pulse").json()
    assert [job["id"] for job in said["jobs"]] == ["1"]
    assert "partial" not in said["jobs"][0]  # pages ask often
    assert set(said["files"]) == {"weights", "audits", "runs"}
