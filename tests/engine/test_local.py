"""Units in processes of their own: the same numbers, and nothing lost when one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dovetail.engine import LocalEngine
from dovetail.engine.machine import cores, places
from dovetail.errors import SpecError
from dovetail.recipes import Unit

from .small import small_units, wait_for


def workers_of(parent: int) -> list[int]:
    """Return the processes that a process has started as workers."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                command = (folder / "cmdline").read_bytes()
                above = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if above == parent and b"dovetail.engine.worker" in command:
                found.append(int(folder.name))
    return found


@pytest.mark.slow
def test_processes_give_what_one_thread_gives_even_when_one_is_killed() -> None:
    units = small_units(4, epochs=3)
    alone = {outcome.unit: outcome.row for outcome in LocalEngine(jobs=1, device="cpu").run(units)}
    outcomes = LocalEngine(jobs=2, device="cpu").run(units)
    first = next(outcomes)
    victims = workers_of(os.getpid())
    assert len(victims) == 2
    os.kill(victims[0], signal.SIGKILL)
    together = {outcome.unit: outcome.row for outcome in [first, *outcomes]}
    assert together == alone
    wait_for(lambda: not workers_of(os.getpid()))


@pytest.mark.slow
def test_a_unit_that_kills_every_process_is_given_up_and_the_others_are_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The interpreter of a worker is replaced by a program that dies.
    monkeypatch.setattr(sys, "executable", "/bin/false")
    first, second = LocalEngine(jobs=2, device="cpu").run(small_units(2))
    assert first.error == second.error == "the process that did it died 3 times (status 1)"


@pytest.mark.slow
def test_stopping_early_ends_all_processes() -> None:
    outcomes = LocalEngine(jobs=2, device="cpu").run(small_units(6, epochs=50))
    next(outcomes)
    assert workers_of(os.getpid())
    outcomes.close()  # type: ignore[attr-defined]
    assert not workers_of(os.getpid())


@pytest.mark.slow
def test_workers_end_when_the_one_that_leads_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from tests.engine.small import small_units\n"
        "from dovetail.engine import LocalEngine\n"
        "list(LocalEngine(jobs=2, device='cpu').run(small_units(4, epochs=2000)))"
    )
    leader = subprocess.Popen([sys.executable, "-c", code, str(Path(__file__).parents[2])], cwd=tmp_path)
    try:
        wait_for(lambda: len(workers_of(leader.pid)) == 2)
        workers = workers_of(leader.pid)
    finally:
        leader.kill()
        leader.wait()
    wait_for(lambda: not any(Path(f"/proc/{pid}/cmdline").exists() for pid in workers))


def test_what_a_unit_foresees_is_an_outcome() -> None:
    units = [Unit("cluster/networks", {**small_units(1)[0].settings, "data": "nothing"})]
    (outcome,) = LocalEngine(jobs=1, device="cpu").run(units)
    assert outcome.row is None
    assert outcome.error.startswith("unknown data set 'nothing'")
    assert not outcome.trace


def test_what_nobody_foresaw_comes_with_its_traceback() -> None:
    (outcome,) = LocalEngine(jobs=1, device="cpu").run([Unit("cluster/networks", {})])
    assert outcome.error.startswith("internal error: KeyError")
    assert "Traceback" in outcome.trace


def test_places() -> None:
    assert places(device="cpu") == ["cpu"] * cores()
    with pytest.raises(SpecError, match="jobs is 0"):
        places(0)
    with pytest.raises(SpecError, match="unknown device 'gpu'"):
        places(device="gpu")
    with pytest.raises(SpecError, match="has no device 'cuda:99'"):
        places(device="cuda:99")
