"""Anything that the routes' schema allows, and much that it does not: no answer may be a 5xx."""

from __future__ import annotations

import base64
import copy
import json
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from httpx import Response
from hypothesis import HealthCheck, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from dovetail.studio import create_app
from dovetail.studio.jobs import KINDS

from .api_schema import operations
from .strange_folder import SECRET, what_is_outside

pytestmark = pytest.mark.slow

EXAMPLES = 20
"""For each route and each way; all of it has to stay under a minute."""

PARTS = [f"digits-{number}-seed0.safetensors" for number in range(10)]
PIXELS = base64.b64encode(bytes(112 * 50) + b"\xff" * 112 + bytes(112 * 61)).decode()

SENSIBLE = {
    "file": [*PARTS[:3], "sculpture/seed0.safetensors", "linear.pt", "planted.safetensors"],
    "files": PARTS,
    "name": ["runs/good", "new.safetensors"],
    "folder": ["audits/good", "runs/new"],
    "output": ["audits/new"],
    "recipe": ["halves", "table1"],
    "ink": [PIXELS],
}
"""Texts that lead somewhere; without them, little behind the first check would be reached."""

ANSWERED = {
    "/api/bench/measure", "/api/bench/look", "/api/bench/compatibility", "/api/draw/drawing", "/api/draw/hardest",
    "/api/networks/open", "/api/networks/unit", "/api/networks/find", "/api/audit/saved",
    "/api/runs/run", "/api/runs/progress",
}  # fmt: skip
"""Routes that some of the requests have to get an answer from, or the fuzz would be one in name only."""


def all_names(strange_root: Path) -> dict[str, list[str]]:
    """Return for each value the names of all that there is, good or not."""
    shown = [
        path.relative_to(strange_root).as_posix()
        for path in strange_root.rglob("*")
        if ".hidden" not in path.parts
    ]
    return {name: [*shown, "../secret.json", "", "ä", "🦜", "x" * 1000] for name in SENSIBLE}


def with_names(schema: dict[str, Any], names: dict[str, list[str]]) -> dict[str, Any]:
    """Return the API's schema with only such texts where names of files and the like are wanted."""

    def offer(name: str, value: dict[str, Any]) -> None:
        for part in (value, value.get("items", {}), *value.get("anyOf", [])):
            if name in names and part.get("type") == "string" and "enum" not in part:
                part.clear()
                part["enum"] = names[name]

    schema = copy.deepcopy(schema)
    for path in schema["paths"].values():
        for operation in path.values():
            for value in operation.get("parameters", []):
                offer(value["name"], value["schema"])
    for model in schema["components"]["schemas"].values():
        for name, value in model.get("properties", {}).items():
            offer(name, value)
    return schema


def send(strange_studio: TestClient, case: Any) -> int:
    body = case.body
    content = (
        body if isinstance(body, bytes) else json.dumps(body) if isinstance(body, dict | list | str) else None
    )
    answer: Response = strange_studio.request(
        case.method, case.formatted_path, params=case.query, content=content
    )
    where = f"{case.method} {case.formatted_path} {case.query} {body!r}"
    assert answer.status_code < 500, f"{where}: {answer.status_code} {answer.text}"
    assert SECRET not in answer.text, where
    if answer.status_code >= 400:
        assert set(answer.json()) == {"error"}, where
    return answer.status_code


def fuzz(strange_studio: TestClient, schema: dict[str, Any], mode: GenerationMode) -> set[tuple[str, int]]:
    """Send many requests to every route, and return which route gave which status."""
    seen = set()
    for found in schemathesis.openapi.from_dict(schema).get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]  # the schema is our own, so there are no errors in it
        if not (operation.query or operation.path_parameters or operation.body):
            continue  # there is nothing to vary

        @seed(0)
        @settings(
            max_examples=EXAMPLES, database=None, deadline=None, suppress_health_check=list(HealthCheck)
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def try_out(case: Any) -> None:
            seen.add((case.operation.path, send(strange_studio, case)))

        try:
            try_out()
        except Unsatisfiable:  # any text is right as a job's number, so none is wrong
            assert mode is GenerationMode.NEGATIVE
    return seen


def test_no_answer_is_a_5xx(
    strange_studio: TestClient, strange_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in KINDS:
        monkeypatch.setitem(KINDS, kind, "nothing")  # a module that is not there: the job ends at once
    before = what_is_outside(strange_root)
    schema = create_app(strange_root, token="", port=0).openapi()
    sensible = fuzz(strange_studio, with_names(schema, SENSIBLE), GenerationMode.POSITIVE)
    assert {path for path, status in sensible if status == 200} >= ANSWERED
    fuzz(strange_studio, with_names(schema, all_names(strange_root)), GenerationMode.POSITIVE)
    fuzz(strange_studio, schema, GenerationMode.NEGATIVE)
    assert what_is_outside(strange_root) == before


def test_every_damaged_audit_is_survived(strange_studio: TestClient, strange_root: Path) -> None:
    for folder in (strange_root / "audits").iterdir():
        answer = strange_studio.get("/api/audit/saved", params={"folder": f"audits/{folder.name}"})
        assert answer.status_code in (200, 400), (folder.name, answer.text)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"null", b"[]", b"NaN", b'{"files": NaN}', b'{"file": "\\ud800"}', b'{"files": ["\\udcff"]}', b"\xff",
     b"[" * 100_000, b'{"a":' * 50_000, b'{"file": 1e999}', b'{"file": ' + b"9" * 10_000 + b"}", b'{"file": {}}',
     b'{"file": "a", "file": "b"}', b"\xef\xbb\xbf{}"],
)  # fmt: skip
def test_bodies_that_no_schema_makes(strange_studio: TestClient, strange_root: Path, body: bytes) -> None:
    for operation in operations(create_app(strange_root, token="", port=0)):
        if operation.body:
            answer = strange_studio.post(operation.path, content=body)
            assert 400 <= answer.status_code < 500, (operation.path, answer.text)
            assert set(answer.json()) == {"error"}
