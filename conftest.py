"""Tests and examples, all of them: random numbers from one seed, and on demand another order."""

from __future__ import annotations

import hashlib
import os
import random
import signal
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
import torch
from hypothesis import is_hypothesis_test, settings

if not torch.cuda.is_available():
    # Kernels are interpreted then, number by number. Triton looks at this when it is imported.
    os.environ.setdefault("TRITON_INTERPRET", "1")

# Examples are small; on a busy machine a single slow one says nothing. What failed yesterday is not tried first, so
# that a seed stands for the same examples everywhere.
settings.register_profile("dovetail", deadline=None, database=None)
settings.load_profile("dovetail")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background has them ignore Ctrl-C, and what they start would ignore it too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    group = parser.getgroup("dovetail")
    group.addoption(
        "--seed-all",
        type=int,
        default=int(os.environ.get("DOVETAIL_TEST_SEED", "0")),
        help="seed of all random numbers in the tests ($DOVETAIL_TEST_SEED, else 0)",
    )
    group.addoption(
        "--shuffle", action="store_true", help="run files, and tests in them, in an order by the seed"
    )


def seed_of(base: int, name: str) -> int:
    """Return the seed of one test, by its own name: it does not depend on which others run."""
    return int.from_bytes(hashlib.sha256(f"{base} {name}".encode()).digest()[:4])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Seed what hypothesis draws, and shuffle if asked to: files, and tests in each, as `--dist loadfile` needs it."""
    base: int = config.getoption("seed_all")
    for item in items:
        function: Any = getattr(item, "obj", None)
        if is_hypothesis_test(function):
            name = item.nodeid.partition("[")[0]  # hypothesis seeds the function, not each of its parameters
            hypothesis.seed(seed_of(base, name))(getattr(function, "__func__", function))
    if config.getoption("shuffle"):
        random.Random(base).shuffle(shuffled := list(items))
        files: dict[object, list[pytest.Item]] = {}
        for item in shuffled:
            files.setdefault(item.path, []).append(item)
        items[:] = [item for file in files.values() for item in file]


@pytest.fixture(autouse=True)
def _seeded(request: pytest.FixtureRequest) -> None:
    """Seed every generator that a test might draw from without saying so."""
    seed = seed_of(request.config.getoption("seed_all"), request.node.nodeid)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    torch.manual_seed(seed)


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """Return an empty folder without neighbours: runs copy what others beside them have finished."""
    alone = tmp_path / "alone"
    alone.mkdir()
    return alone


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how to repeat a run that failed."""
    if terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"):
        again = f"--seed-all {config.getoption('seed_all')}{' --shuffle' * config.getoption('shuffle')}"
        terminalreporter.write_line(f"the same numbers and order again: {again}")
