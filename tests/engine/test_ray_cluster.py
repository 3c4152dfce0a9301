"""Units on a Ray cluster of real nodes: the same numbers, and nothing lost when a worker or a node dies."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from dovetail.engine import LocalEngine, reproduce
from dovetail.engine.perform import perform, trains_networks
from dovetail.engine.ray_cluster import (
    RayEngine,
    _environment,
    _find_cluster,
    connected,
    do_unit,
    find_places,
)
from dovetail.engine.results_file import read_results
from dovetail.errors import DovetailError, DovetailWarning, SpecError
from dovetail.recipes import find_recipe

from .ray_nodes import Cluster, free_port
from .small import small_recipe, small_units, wait_for


def node(cpus: float = 0, gpus: float = 0, alive: bool = True) -> dict[str, object]:
    has = {name: count for name, count in (("CPU", cpus), ("GPU", gpus)) if count}
    return {"Alive": alive, "Resources": has}


@pytest.mark.parametrize(
    ("nodes", "jobs", "device", "places"),
    [
        ([node(2), node(3), node(9, alive=False)], None, None, ["cpu"] * 5),
        ([node(2), node(3)], 4, None, ["cpu"] * 4),
        ([node(8), node(8, gpus=2)], None, None, ["cuda:0"] * 2),
        ([node(8), node(8, gpus=2)], 3, None, ["cuda:0"] * 6),
        ([node(4, gpus=2)], 3, None, ["cuda:0"] * 4),  # each needs a CPU
        ([node(8), node(8, gpus=2)], None, "cpu", ["cpu"] * 16),
    ],
)
def test_places(
    nodes: list[dict[str, object]], jobs: int | None, device: str | None, places: list[str]
) -> None:
    assert find_places(nodes, jobs, device) == places


@pytest.mark.parametrize(
    ("nodes", "device", "message"),
    [
        ([node(0)], None, "no CPU"),
        ([], "cpu", "no CPU"),
        ([node(4)], "cuda", "no GPU"),
        ([node(0, gpus=1), node(4)], None, "no GPU with a CPU beside it"),
    ],
)
def test_nothing_to_run_on(nodes: list[dict[str, object]], device: str | None, message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        find_places(nodes, None, device)


def test_ray_chooses_the_gpu() -> None:
    with pytest.raises(SpecError, match="'cuda:1'; Ray chooses"):
        find_places([node(8, gpus=2)], None, "cuda:1")


def test_no_jobs() -> None:
    with pytest.raises(SpecError, match="jobs is 0"):
        RayEngine(jobs=0)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(DovetailError, match=r"pip install 'dovetail-nn\[ray\]'"):
        RayEngine()


def test_without_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    nobody = f"127.0.0.1:{free_port()}"
    for wrong in (nobody, f"ray://{nobody}", "local", "nonsense"):
        with pytest.raises(DovetailError, match="ray start --head"):
            RayEngine(address=wrong)
    monkeypatch.setenv("RAY_ADDRESS", nobody)
    with pytest.raises(DovetailError, match=r"no Ray cluster answers .*'ray start --head'"):
        RayEngine()


def test_a_node_with_another_version_says_so() -> None:
    unit = small_units(1)[0]
    for key, version in ((unit.key, "0.0.1"), ("0" * 20, "0.0.1")):
        reply = do_unit(unit.work, dict(unit.settings), key, version, "cpu")
        assert reply["row"] is None
        assert "install the same" in str(reply["error"])


def test_what_is_set_for_workers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOVETAIL_DATA", "some/data")
    assert _environment() == {
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "DOVETAIL_DATA": str(tmp_path / "some" / "data"),
    }
    monkeypatch.delenv("DOVETAIL_DATA")
    assert "DOVETAIL_DATA" not in _environment()


class FakeRay(ModuleType):
    """A cluster with one GPU in which tasks are done at once, or never."""

    class exceptions:  # noqa: N801 (as Ray calls it)
        RayError = RayTaskError = OSError

    def __init__(self, *, working: bool = True) -> None:
        super().__init__("ray")
        self.working = working
        self.tasks: list[tuple[float, str]] = []
        self.head = f"127.0.0.1:{free_port()}"

    def is_initialized(self) -> bool:
        return True

    def nodes(self) -> list[dict[str, object]]:
        return [node(4), node(4, gpus=1)]

    def get_runtime_context(self) -> SimpleNamespace:
        return SimpleNamespace(gcs_address=self.head)

    def remote(self, *, num_gpus: float, **_: object) -> Callable[[object], SimpleNamespace]:
        def do(work: str, settings: object, key: str, version: str, device: str) -> dict[str, object]:
            self.tasks.append((num_gpus, device))
            return {"row": {"x": len(self.tasks)}}

        # Tasks are hashed by who they are.
        return lambda function: SimpleNamespace(remote=lambda *asked: _Task(do(*asked)))

    def wait(self, running: list[object], **_: object) -> tuple[list[object], list[object]]:
        return (running[:1], running[1:]) if self.working else ([], running)

    def get(self, task: _Task) -> object:
        return task.result

    def cancel(self, *_: object, **__: object) -> None:
        return None


@dataclass(eq=False)
class _Task:
    result: object


def test_only_units_that_train_networks_hold_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = FakeRay()
    monkeypatch.setattr("dovetail.engine.ray_cluster.import_ray", lambda: ray)
    trains = small_units(1)[0]
    other = find_recipe("random-init").units("smoke")[0]
    assert [trains_networks(unit) for unit in (trains, other)] == [True, False]
    outcomes = list(RayEngine(jobs=2).run([trains, other]))
    assert len(outcomes) == 2
    assert sorted(ray.tasks) == [(0, "cpu"), (0.5, "cuda:0")]


def test_a_lost_head_is_said_at_once_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = FakeRay(working=False)
    monkeypatch.setattr("dovetail.engine.ray_cluster.import_ray", lambda: ray)
    monkeypatch.setattr("dovetail.engine.ray_cluster._HEAD_SECONDS", 0.0)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    said = rf"lost the head of the Ray cluster, {ray.head}; what is done is kept: start it again"
    with pytest.warns(DovetailWarning, match=said), pytest.raises(DovetailError, match=said):
        list(RayEngine().run(small_units(1)))


def test_nothing_of_rays_threads_is_printed_while_connected(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ray = SimpleNamespace(is_initialized=lambda: False, shutdown=lambda: None)
    monkeypatch.setattr("dovetail.engine.ray_cluster._connect", lambda *_: None)
    before = sys.stdout
    with connected(ray, None):  # type: ignore[arg-type]
        for name in ("ray_listen_error_messages", "ours"):
            thread = threading.Thread(target=print, args=(f"from {name}",), name=name)
            thread.start()
            thread.join()
    assert sys.stdout is before
    assert capsys.readouterr().out == "from ours\n"


def test_the_cluster_of_this_machine_is_found_where_ray_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    with pytest.raises(OSError, match="ray_current_cluster"):
        _find_cluster("auto")
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text("10.0.0.1:6379\n")
    assert _find_cluster("auto") == "10.0.0.1:6379"
    assert _find_cluster("[::1]:6379") == "[::1]:6379"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    pytest.importorskip("ray")
    if not Path("/proc/self/stat").exists():
        pytest.skip("finds the processes of a node in /proc")
    made = Cluster()
    yield made
    made.stop()


@contextmanager
def beside(action: Callable[[], object]) -> Iterator[None]:
    """Do something while something else runs; what goes wrong in it goes wrong here."""
    with ThreadPoolExecutor(1) as pool:
        doing = pool.submit(action)
        yield
        doing.result()


def hold(monkeypatch: pytest.MonkeyPatch, gate: Path, *, but: int | None = None) -> None:
    """Let all nodes wait within their units, but in the one with a certain seed, as long as a file is there."""
    gate.touch()
    where, free = str(gate), [but]

    def do_unit(work: str, settings: dict[str, Any], *asked: str) -> dict[str, object]:
        # Nothing from outside: where this runs, nobody knows of this file.
        import time
        from pathlib import Path

        from dovetail.engine.ray_cluster import do_unit as usual

        while settings["seeds"] != free and Path(where).exists():
            time.sleep(0.02)
        return usual(work, settings, *asked)

    do_unit.__qualname__ = "do_unit"  # by which `Node.working` knows it
    monkeypatch.setattr("dovetail.engine.ray_cluster.do_unit", do_unit)


@pytest.mark.slow
def test_a_unit_whose_worker_is_killed_is_done_again(
    cluster: Cluster,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    units = small_units(1)
    alone = {outcome.unit: outcome.row for outcome in LocalEngine(jobs=1, device="cpu").run(units)}
    victims: list[int] = []

    hold(monkeypatch, gate := tmp_path / "gate")

    def strike() -> None:
        try:
            wait_for(lambda: bool(cluster.head.working()))
            victims.extend(cluster.head.working())
            os.kill(victims[0], signal.SIGKILL)
        finally:
            gate.unlink()

    with beside(strike):
        there = {outcome.unit: outcome.row for outcome in RayEngine(address=cluster.address).run(units)}
    assert len(victims) == 1
    assert capfd.readouterr().out == ""
    assert there == alone
    assert not sys.modules["ray"].is_initialized()  # it leaves as it came


@pytest.mark.slow
def test_gpus_of_some_nodes_are_for_what_trains_and_missed_when_they_are_lost(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_gpu = cluster.add_node(gpus=1)
    assert RayEngine(address=cluster.address, device="cpu").places == ["cpu", "cpu"]
    assert RayEngine(address=cluster.address, jobs=1, device="cpu").places == ["cpu"]
    engine = RayEngine(address=cluster.address, jobs=2)
    assert engine.places == ["cuda:0"]
    trains, other = small_units(1)[0], find_recipe("random-init").units("smoke")[0]
    outcomes = {outcome.unit: outcome for outcome in engine.run([trains, other])}
    # There is no GPU in truth; the unit was done where it would be.
    outcome = outcomes[trains]
    assert outcome.device.startswith("NVIDIA") or "PyTorch finds none" in outcome.error
    assert (outcomes[other].device, outcomes[other].row) == ("cpu", perform(other, "cpu").row)
    with_gpu.kill()
    monkeypatch.setattr("dovetail.engine.ray_cluster._LOOK_SECONDS", 0.5)
    monkeypatch.setattr("dovetail.engine.ray_cluster._PATIENCE_SECONDS", 1.0)
    with pytest.raises(DovetailError, match=r"no GPU .* nodes that it had are lost"):
        list(engine.run(small_units(1)))


@pytest.mark.slow
def test_a_run_ends_complete_and_right_when_a_node_is_killed_and_one_comes_back(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recipe = small_recipe(6)
    monkeypatch.setattr("dovetail.engine.reproduction.find_recipe", lambda name: recipe)
    # Not side by side, or the second would take over what the first has done.
    here, there = tmp_path / "here" / "run", tmp_path / "there" / "run"
    reproduce("small", folder=here, jobs=1, device="cpu", progress=False)
    second = cluster.add_node()
    at_the_blow: list[int] = []
    hold(monkeypatch, gate := tmp_path / "gate", but=0)

    def strike() -> None:
        try:
            wait_for(lambda: bool(results(there) and second.working()))
            second.kill()
            at_the_blow.append(len(results(there)))
            back = cluster.add_node()
            wait_for(lambda: bool(back.working()))  # it is given work while the run goes on
        finally:
            gate.unlink()

    with beside(strike):
        run = reproduce("small", folder=there, engine="ray", address=cluster.address, progress=False)
    assert at_the_blow == [1]
    assert not run.failed
    assert results(there) == results(here)
    assert len(results(there)) == len((there / "results.jsonl").read_text().splitlines()) == 6
    assert (there / "table.md").exists()


def results(folder: Path) -> dict[str, object]:
    """Return the row of each unit that a run has finished."""
    return {key: one.row for key, one in read_results(folder / "results.jsonl").items()}
