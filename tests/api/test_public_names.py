"""The public surface, names and command line, changes only when somebody means it to."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest

from . import command_line, public_names


@pytest.mark.parametrize(
    ("listed", "found"),
    [(public_names.LISTED, public_names.public_names), (command_line.LISTED, command_line.command_line)],
    ids=["public_names", "command_line"],
)
def test_the_public_surface_is_the_one_that_is_listed(listed: Path, found: Callable[[], str]) -> None:
    changes = "\n".join(
        difflib.unified_diff(
            listed.read_text(encoding="utf-8").splitlines(),
            found().splitlines(),
            "listed",
            "found",
            n=0,
            lineterm="",
        )
    )
    assert not changes, (
        f"the public surface has changed:\n{changes}\nIf that is meant, note it in CHANGELOG.md and list it: "
        f"python -m tests.api.{listed.stem}"
    )
