"""The tests themselves: every one draws from its own seed, and the order of them can be another."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("parameter", [1, 2])
def test_every_generator_is_seeded_by_the_name_of_the_test(
    request: pytest.FixtureRequest, parameter: int
) -> None:
    text = f"{request.config.getoption('seed_all')} {request.node.nodeid}"
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
    assert torch.initial_seed() == seed
    assert random.random() == random.Random(seed).random()
    assert np.random.rand() == np.random.RandomState(seed).rand()  # noqa: NPY002


@given(st.integers(0, 2**60))
def test_drawn_by_hypothesis(number: int) -> None:
    print(number)


def run(*options: str) -> str:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-o",
        "addopts=",
        "--import-mode=importlib",
    ]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout


@pytest.mark.slow
def test_hypothesis_draws_by_the_seed() -> None:
    def drawn(seed: int) -> list[str]:
        shown = run(f"{__file__}::test_drawn_by_hypothesis", "-sq", "--seed-all", str(seed))
        return [line for line in shown.splitlines() if line.isdigit()]

    first, again, other = drawn(3), drawn(3), drawn(4)
    assert len(first) > 10
    assert first == again != other


@pytest.mark.slow
def test_the_order_is_another_and_files_stay_together() -> None:
    def order(*options: str) -> list[str]:
        shown = run(
            "tests/io", "tests/test_errors.py", "tests/test_display.py", "-q", "--collect-only", *options
        )
        return [line for line in shown.splitlines() if "::" in line]

    usual, first, again = (
        order(),
        order("--shuffle", "--seed-all", "3"),
        order("--shuffle", "--seed-all", "3"),
    )
    assert usual != first == again
    assert sorted(usual) == sorted(first)
    files = [line.partition("::")[0] for line in first]
    changes = sum(a != b for a, b in pairwise(files))
    assert changes == len(set(files)) - 1
    assert files != [line.partition("::")[0] for line in usual]
