"""Try many inputs on one reader: how many, from which seeds, and what a single one may cost."""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from dovetail.errors import DovetailError

INPUTS = int(os.environ.get("DOVETAIL_FUZZ", "200"))
"""Inputs for each reader; `bench/fuzz.py` tries 100,000."""
REPORT = os.environ.get("DOVETAIL_FUZZ_REPORT")
"""File to which every reader adds a line of JSON with what it took."""
MOST_SECONDS = 10.0
"""Of processor time for one input."""
MOST_MEGABYTES = 1024.0
"""By which all inputs together may raise the peak of the process's memory."""
MOST_CHARACTERS = 2000
"""Of an error's message: it is shown as one line."""

_BATCH = 1000
"""Inputs from one seed: hypothesis keeps what it tried in memory, and forgets it after a batch."""

Input = TypeVar("Input")


@dataclass
class Tally:
    """What became of the inputs, and what they cost."""

    reader: str
    inputs: int = 0
    taken: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    megabytes: float = 0.0


def fuzz(reader: str, inputs: st.SearchStrategy[Input], read: Callable[[Input], None]) -> Tally:
    """Read every input: each is taken, or refused with a `DovetailError`, and cheaply so. Nothing else may happen."""
    tally = Tally(reader)
    begun, before = time.perf_counter(), _peak()
    number = 0
    while tally.inputs < INPUTS:
        reached = tally.inputs
        _batch(tally, inputs, read, number, min(_BATCH, INPUTS - reached))
        assert tally.inputs > reached, "there are no such inputs"
        number += 1
    tally.seconds = time.perf_counter() - begun
    tally.megabytes = _peak() - before
    if REPORT:
        with Path(REPORT).open("a") as file:
            file.write(json.dumps(asdict(tally)) + "\n")
    assert tally.megabytes <= MOST_MEGABYTES, f"{tally.megabytes:.0f} MB more than before"
    assert tally.taken, "nothing was taken: these inputs only try the first check"
    assert tally.refused, "nothing was refused"
    return tally


def _batch(
    tally: Tally, inputs: st.SearchStrategy[Input], read: Callable[[Input], None], number: int, count: int
) -> None:
    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def try_out(one: Input) -> None:
        begun = time.process_time()
        try:
            read(one)
            tally.taken += 1
        except DovetailError as error:
            tally.refused += 1
            message = str(error)
            assert len(message.strip()) > 0, "an error without a message"
            assert len(message) <= MOST_CHARACTERS, f"a message of {len(message)} characters"
        took = time.process_time() - begun
        tally.inputs += 1
        tally.slowest = max(tally.slowest, took)
        assert took <= MOST_SECONDS, f"{took:.1f} s for one input"

    try_out()


def _peak() -> float:
    """Return the most memory that this process has had, in MB (Linux counts in kB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
