"""Each promise in docs/hardening.md names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_promises_name_tests_that_are_there() -> None:
    text = (ROOT / "docs" / "hardening.md").read_text("utf-8")
    rows = [
        row.split("|")[2]
        for row in text.splitlines()
        if row.startswith("| ") and "`tests/" in row.split("|")[2]
    ]
    assert len(rows) > 20
    for row in rows:
        file = ""
        for named in re.findall(r"`([^`]+)`", row):
            path, _, test = named.partition("::")
            file = path or file
            content = (ROOT / file).read_text("utf-8")
            assert not test or re.search(rf"^def {test}\(", content, re.MULTILINE), named
