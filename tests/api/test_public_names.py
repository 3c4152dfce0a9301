"""The public surface changes only when somebody means it to."""

from __future__ import annotations

import difflib

from .public_names import LISTED, public_names


def test_the_public_surface_is_the_one_that_is_listed() -> None:
    changes = "\n".join(
        difflib.unified_diff(
            LISTED.read_text(encoding="utf-8").splitlines(),
            public_names().splitlines(),
            "listed",
            "found",
            n=0,
            lineterm="",
        )
    )
    assert not changes, (
        f"the public surface has changed:\n{changes}\nIf that is meant, note it in CHANGELOG.md and list it: "
        "python -m tests.api.public_names"
    )
