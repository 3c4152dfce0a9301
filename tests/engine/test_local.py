"""Units in processes of their own: the same numbers, and nothing lost when one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue

import pytest

from dovetail.engine import LocalEngine, Outcome
from dovetail.engine.local import _Worker
from dovetail.engine.machine import cores, free_memory, places
from dovetail.engine.perform import perform
from dovetail.errors import SpecError
from dovetail.recipes import Unit, Work, find_work
from dovetail.recipes.cluster.conditions import networks_unit

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


_HELD_WORKER = """#!/bin/sh
if mkdir '{marks}/first' 2>/dev/null; then
  read unit
  echo $$ >'{marks}/new' && mv '{marks}/new' '{marks}/pid'
  read more
fi
exec '{python}' "$@"
"""


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """The first worker that is started never ends its unit; the function waits for it and returns its process."""
    worker = tmp_path / "worker.sh"
    worker.write_text(_HELD_WORKER.format(marks=tmp_path, python=sys.executable))
    worker.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(worker))

    def process() -> int:
        wait_for((tmp_path / "pid").exists)
        return int((tmp_path / "pid").read_text())

    return process


@pytest.mark.slow
def test_processes_give_what_one_thread_gives_even_when_one_is_killed(held: Callable[[], int]) -> None:
    units = small_units(4, epochs=3)
    alone = {outcome.unit: outcome.row for outcome in LocalEngine(jobs=1, device="cpu").run(units)}
    outcomes = LocalEngine(jobs=2, device="cpu").run(units)
    first = next(outcomes)
    assert held() in workers_of(os.getpid())
    os.kill(held(), signal.SIGKILL)
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


_DYING_WORKER = """#!/bin/sh
while read unit; do
  case "$unit" in
    *'"seeds": [0]'*) echo 'words on the first unit' >&2
      echo '{"row": {}, "seconds": 1, "device": "cpu", "error": "", "trace": ""}' ;;
    *) exit 1 ;;
  esac
done
"""


def test_the_last_words_on_another_unit_are_no_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = tmp_path / "worker.sh"
    worker.write_text(_DYING_WORKER)
    worker.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(worker))
    waiting: Queue[Unit] = Queue()
    for unit in small_units(2):
        waiting.put(unit)
    done: Queue[Outcome | BaseException] = Queue()
    _Worker("cpu").serve(waiting, done)
    first, second = done.get(), done.get()
    assert isinstance(first, Outcome)
    assert isinstance(second, Outcome)
    assert first.row == {}
    assert second.error == "the process that did it died 3 times (status 1)"


@pytest.mark.slow
def test_stopping_early_ends_all_processes(held: Callable[[], int]) -> None:
    outcomes = LocalEngine(jobs=2, device="cpu").run(small_units(6))
    next(outcomes)
    assert held() in workers_of(os.getpid())
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


def unit_without_training(seed: int) -> Unit:
    return networks_unit(
        "digits", "mlp:8-8", seeds=[seed], stages=["initial"], measures=[{"k": 3, "shuffles": 3}]
    )


def test_what_has_no_use_for_a_gpu_is_done_on_the_cpu() -> None:
    engine = LocalEngine(jobs=1, device="cpu")
    engine.places = ["cuda:7"]
    (outcome,) = engine.run([unit_without_training(0)])
    assert outcome.device == "cpu"


@pytest.mark.slow
def test_what_has_no_use_for_a_gpu_runs_beside_what_has() -> None:
    engine = LocalEngine(jobs=1, device="cpu")
    engine.places = ["cuda:99"]  # which no machine has
    plain = [unit_without_training(seed) for seed in range(3)]
    outcomes = {outcome.unit: outcome for outcome in engine.run([*small_units(2), *plain])}
    assert all(outcomes[unit].error for unit in small_units(2))
    alone = {unit: perform(unit, "cpu").row for unit in plain}
    assert {unit: outcomes[unit].row for unit in plain} == alone
    wait_for(lambda: not workers_of(os.getpid()))


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The places of workers that an engine starts on a machine of 16 cores and 2 GPUs; they do nothing."""
    started: list[str] = []

    class Idle:
        def __init__(self, place: str) -> None:
            self._place = place
            started.append(place)

        def serve(self, waiting: Queue[Unit], done: Queue[Outcome | BaseException]) -> None:
            while True:
                try:
                    done.put(Outcome(waiting.get_nowait(), {}, device=self._place))
                except Empty:
                    return

        def stop(self) -> None:
            pass

    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr("dovetail.engine.machine.cores", lambda: 16)
    monkeypatch.setattr("dovetail.engine.machine.free_memory", lambda: 2**40)
    monkeypatch.setattr("dovetail.engine.local._Worker", Idle)
    return started


@pytest.mark.parametrize(("jobs", "device", "gpu", "cpu"), [
    (1, "cuda:0", 1, 1), (3, "cuda:0", 3, 3), (3, None, 6, 3), (None, None, 2, 14), (9, None, 18, 1),
])  # fmt: skip
def test_workers_beside_gpus_are_no_more_than_was_asked_for(
    jobs: int | None, device: str | None, gpu: int, cpu: int, crew: list[str]
) -> None:
    units = [*small_units(20), *(unit_without_training(seed) for seed in range(20))]
    outcomes = list(LocalEngine(jobs=jobs, device=device).run(units))
    assert len(outcomes) == 40
    assert (sum(place != "cpu" for place in crew), crew.count("cpu")) == (gpu, cpu)


def test_each_unit_is_looked_at_once_for_its_place(crew: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(name: str) -> Work:
        asked.append(name)
        return find_work(name)

    monkeypatch.setattr("dovetail.engine.perform.find_work", counted)
    units = [*small_units(2), unit_without_training(0)]
    found = {one.unit: one.device for one in LocalEngine(jobs=1, device="cuda:1").run(units)}
    assert [found[unit] for unit in units] == ["cuda:1", "cuda:1", "cpu"]
    assert len(asked) == len(units)


def test_memory_limits_workers_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.engine.machine.cores", lambda: 64)
    for free, workers in ((2**40, 64), (5 * 2**30, 5), (2**20, 1)):
        monkeypatch.setattr("dovetail.engine.machine.free_memory", lambda free=free: free)
        assert places(device="cpu") == ["cpu"] * workers
        assert places(8, "cpu") == ["cpu"] * 8  # who says how many gets as many


def test_free_memory_is_some_of_what_there_is() -> None:
    assert 0 < free_memory() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_what_a_container_has_taken_is_not_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.engine.machine._CGROUP", tmp_path)
    whole = free_memory()
    (tmp_path / "memory.max").write_text("100000\n")
    assert free_memory() == 100_000  # all that is known
    (tmp_path / "memory.current").write_text("90000\n")
    (tmp_path / "memory.stat").write_text("anon 50000\nactive_file 5000\ninactive_file 25000\n")
    assert free_memory() == 35_000
    (tmp_path / "memory.current").write_text("130000\n")  # the kernel is about to take some back
    assert free_memory() == 0
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory() > 100_000
    assert whole > 100_000


def test_places() -> None:
    assert 1 <= len(places(device="cpu")) <= cores()
    with pytest.raises(SpecError, match="jobs is 0"):
        places(0)
    with pytest.raises(SpecError, match="unknown device 'gpu'"):
        places(device="gpu")
    with pytest.raises(SpecError, match="has no device 'cuda:99'"):
        places(device="cuda:99")
