"""What the tests of data share."""

from __future__ import annotations

import pytest

from dovetail.data import damage


@pytest.fixture(autouse=True)
def small_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let readers take files smaller than the official ones, except where those themselves are read."""
    if not request.module.__name__.endswith("test_data_real"):
        monkeypatch.setattr(damage, "OFFICIAL_COUNTS_ONLY", False)
