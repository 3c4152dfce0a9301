"""Names and files that are traps, through every route that takes a text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from dovetail.studio import create_app
from dovetail.studio.jobs import KINDS, Jobs

from ..engine.small import wait_for
from .api_schema import Operation, operations
from .run_folders import RECIPE
from .strange_folder import RUN_FILES, SECRET, what_is_outside
from .test_folder import BAD_NAMES

SPELLINGS = [
    "%2e%2e/secret.json", "..%2fsecret.json", "%2e%2e%2fsecret.json", "..%252fsecret.json", "..%c0%afsecret.json",
    "．．/secret.json", "..;/secret.json", "file:///etc/passwd", "http://127.0.0.1/etc/passwd", "root/../secret.json",
    "link.safetensors", "round.safetensors", "folder.safetensors", "pipe.safetensors", "runs", "runs/damaged",
    "large.safetensors", "large.pt", "truncated.safetensors", "foreign.pt", "foreign-zip.pt", "empty.safetensors",
    "header-only.safetensors", "long-header.safetensors", "array.npy", "CON", "nul.safetensors", "a:b", "*", "~",
    "meta.pt", "uint16.pt", "bits.pt", "complex.pt", "repeated.pt", "sparse.pt", "nested.pt", "quantised.pt",
    "damaged.pt", "terabytes.safetensors", "mismatched.safetensors", "deep-manifest.safetensors", "audits/linked",
    *(f"linked-runs/{name.strip('.')}" for name in RUN_FILES),
]  # fmt: skip
"""Names that are plain, however they look, and what must not be opened or cannot be."""

FILE_BY_FILE = {"/api/bench/scores"}
"""Routes that say nothing of a file that they cannot open, because there are others in the same question."""

NO_FILES = {("/api/grow/add", "target"), ("/api/grow/ask", "without"), ("/api/networks/find", "text")}
"""Texts that name no file: a column, classes, what is searched for."""


@pytest.fixture
def no_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in KINDS:
        monkeypatch.setitem(KINDS, kind, "nothing")  # a module that is not there: the job ends at once


def ask(
    strange_studio: TestClient, operation: Operation, name: str, text: str, usual: str
) -> tuple[int, str]:
    query, body = operation.filled(name, text, usual)
    pairs = [
        (key, one) for key, value in query.items() for one in (value if isinstance(value, list) else [value])
    ]
    parameters = "&".join(f"{key}={quote(str(one), safe='', errors='surrogatepass')}" for key, one in pairs)
    answer = strange_studio.request(
        operation.method,
        f"{operation.path}?{parameters}",
        content=json.dumps(body) if operation.body else None,
    )
    return answer.status_code, answer.text


def cases(strange_root: Path) -> list[tuple[Operation, str]]:
    found = [
        (one, name) for one in operations(create_app(strange_root, token="", port=0)) for name in one.texts()
    ]
    # If the schema were read wrongly, nothing would be tested.
    assert {one.path.split("/")[2] for one, _ in found} >= {
        "bench",
        "draw",
        "grow",
        "networks",
        "audit",
        "runs",
    }
    return found


@pytest.mark.usefixtures("no_jobs")
def test_bad_names_are_refused_everywhere(strange_studio: TestClient, strange_root: Path) -> None:
    usual = "digits-0-seed0.safetensors"
    before = what_is_outside(strange_root)
    for operation, name in cases(strange_root):
        optional = not {**operation.query, **operation.body}[name]["required"]
        for text in BAD_NAMES:
            if optional and not text:  # nothing was named
                continue
            status, said = ask(strange_studio, operation, name, text, usual)
            where = f"{operation.method} {operation.path} with {name} = {text!r}: {status} {said:.200}"
            if operation.path in FILE_BY_FILE and status == 200:
                assert "null" in said, where
                assert not any(sign.isdigit() for sign in said.replace(json.dumps(text), "")), where
            elif (operation.path, name) in NO_FILES:
                assert status < 500, where
            else:  # the strange_root itself may be named by a dot, but there is no audit and no run in it
                assert 400 <= status < 500, where
                assert set(json.loads(said)) == {"error"}, where
            assert SECRET not in said, where
            assert "root:x:" not in said, where
    assert what_is_outside(strange_root) == before


@pytest.mark.usefixtures("no_jobs")
def test_strange_names_and_files_are_survived_everywhere(
    strange_studio: TestClient, strange_root: Path
) -> None:
    usual = "digits-0-seed0.safetensors"
    before = what_is_outside(strange_root)
    for operation, name in cases(strange_root):
        for text in SPELLINGS:
            status, said = ask(strange_studio, operation, name, text, usual)
            where = f"{operation.method} {operation.path} with {name} = {text!r}: {status} {said:.200}"
            assert status < 500, where
            assert SECRET not in said, where
            assert "root:x:" not in said, where
    assert what_is_outside(strange_root) == before  # and no pickle was run


def test_lists_name_what_cannot_be_opened(strange_studio: TestClient) -> None:
    for path in ("/api/bench/parts", "/api/draw/parts", "/api/networks/files", "/api/audit", "/api/runs"):
        answer = strange_studio.get(path)
        assert answer.status_code == 200, answer.text
        assert "link.safetensors" not in answer.text
        assert SECRET not in answer.text


@pytest.mark.parametrize("name", ["large.safetensors", "large.pt"])
def test_a_gigabyte_is_refused_with_its_size(strange_studio: TestClient, name: str) -> None:
    answer = strange_studio.get("/api/networks/open", params={"file": name})
    assert answer.status_code == 400
    assert name in answer.json()["error"]
    assert "MB" in answer.json()["error"]


def test_a_truncated_file_is_named(strange_studio: TestClient) -> None:
    answer = strange_studio.get("/api/networks/open", params={"file": "truncated.safetensors"})
    assert answer.status_code == 400
    assert "truncated.safetensors" in answer.json()["error"]


@pytest.mark.slow
def test_real_jobs_write_nowhere_else(strange_studio: TestClient, strange_root: Path) -> None:
    before = what_is_outside(strange_root)
    jobs: Jobs = strange_studio.app.state.studio.jobs  # type: ignore[attr-defined]
    # Not over the route, which refuses links itself: they may be made after it has looked.
    folder = "linked-runs/figures"
    settings = {"recipe": RECIPE, "run": folder, "path": str(strange_root / folder)}
    job = ended(strange_studio, lambda: jobs.start("recipe", "linked", settings).id)
    assert "figures is a link" in job["error"]
    asked = {"file": "planted.safetensors", "k": 3, "shuffles": 3, "output": "audits/linked"}
    job = ended(strange_studio, lambda: str(strange_studio.post("/api/audit", json=asked).json()["id"]))
    assert "null.png" in job["error"]
    assert "link" in job["error"]
    assert (strange_root / "audits" / "linked" / "null.png").is_symlink()  # nothing of ours took its place
    assert what_is_outside(strange_root) == before


def ended(strange_studio: TestClient, start: Callable[[], str]) -> dict[str, Any]:
    """Start a job when all others have ended; return it when it has too."""

    def idle() -> bool:
        return all(job["state"] != "running" for job in strange_studio.get("/api/jobs").json())

    wait_for(idle, seconds=120)
    job = start()
    wait_for(idle, seconds=120)
    found: dict[str, Any] = strange_studio.get(f"/api/jobs/{job}").json()
    return found
