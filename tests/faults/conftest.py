"""What the fault tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .warm import Warm


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    with Warm(tmp_path_factory.mktemp("warm")) as process:
        yield process
