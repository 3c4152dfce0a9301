"""Units on a Ray cluster: the same units as on one machine, each of them a Ray task.

Every node has Dovetail installed, in the version of the process that leads; only that process writes results. Real data
is found on a node as on any machine: in ``$DOVETAIL_DATA``, which is passed on and so names a folder that all nodes
see, or in the node's own cache. Units that train no networks are given no GPU, and run on any node. What a lost worker
or node had in hand is done again elsewhere, and a node that comes (back) is given work. If the cluster's head is lost,
that is said, the run ends (Ray would end the program after a minute), and it goes on from what was kept when it is
started again.
"""

from __future__ import annotations

import logging
import math
import os
import re
import socket
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO, cast

import torch

from .._version import __version__
from ..data.sources import expand_user
from ..errors import DovetailError, DovetailWarning, SpecError
from ..recipes import Unit
from .perform import Outcome, perform, trains_networks

_RETRIES = 4
"""How often Ray does a unit again whose worker or node was lost."""
_LOOK_SECONDS = 5.0
"""How often to look whether there is still something to run on, while no unit ends."""
_PATIENCE_SECONDS = 300.0
"""How long to wait for a node when all are lost; lost nodes are often replaced."""
_HEAD_SECONDS = 20.0
"""How long the head may not answer before it is lost; Ray itself ends the program after a minute."""
_HOW_TO_START = "start one with 'ray start --head', and 'ray start --address=HOST:6379' on further machines"
_GPU = "cuda:0"
"""The GPU of a task: Ray shows it no other."""


class RayEngine:
    """Does units on a Ray cluster, which runs already.

    Parameters
    ----------
    address : str, optional
        Of the cluster, such as ``"10.0.0.1:6379"``, for a process on one of its nodes; ``"ray://10.0.0.1:10001"`` from
        elsewhere (needs ``ray[client]`` on both sides). Default: ``$RAY_ADDRESS``, else the cluster that this machine
        is a node of.
    jobs : int, optional
        Units side by side on each GPU, one by default. Without GPUs: units side by side in the whole cluster; one on
        each of its CPUs by default.
    device : {"cpu", "cuda"}, optional
        What to run on. Default: GPUs if the cluster has any, else CPUs.

    Attributes
    ----------
    places : list of str
        The device of each worker, as its task sees it, with the nodes that the cluster has at the beginning.

    Raises
    ------
    DovetailError
        If the package is missing, no cluster answers, or it has nothing to run on.
    """

    def __init__(
        self, *, address: str | None = None, jobs: int | None = None, device: str | None = None
    ) -> None:
        if jobs is not None and jobs < 1:
            raise SpecError(f"jobs is {jobs}; at least 1 is needed")
        self._ray = import_ray()
        self._address, self._jobs, self._device = address, jobs, device
        with connected(self._ray, address):
            self.places = find_places(self._ray.nodes(), jobs, device)

    def run(self, units: Sequence[Unit]) -> Iterator[Outcome]:
        """Do units and yield what became of each, in the order in which they end."""
        # Ray shares the units out; all of them at once, so that it can see what is still to come.
        limit = self._jobs if self._jobs is not None and self.places[0] == "cpu" else len(units)
        waiting, running = deque(units), dict[Any, Unit]()
        with connected(self._ray, self._address):
            on_gpu = self.places[0] == _GPU
            # Two kinds of tasks: a GPU is held only by what trains networks on it.
            tasks = {device: self._task(device) for device in {"cpu", self.places[0]}}
            try:
                while waiting or running:
                    while waiting and len(running) < limit:
                        unit = waiting.popleft()
                        device = _GPU if on_gpu and trains_networks(unit) else "cpu"
                        asked = (unit.work, dict(unit.settings), unit.key, __version__, device)
                        running[tasks[device].remote(*asked)] = unit
                    done = self._next(list(running))
                    yield self._outcome(done, running.pop(done))
            except self._ray.exceptions.RayError as error:
                raise DovetailError(f"lost the Ray cluster: {one_line(error)}") from error
            finally:
                for left in running:
                    with suppress(Exception):  # what cannot be cancelled is gone already
                        self._ray.cancel(left, force=True)

    def _task(self, device: str) -> Any:
        on_gpu = device == _GPU
        # Ray counts in ten-thousandths; rounded up, the last share would not fit.
        share = math.floor(10_000 / (self._jobs or 1)) / 10_000 if on_gpu else 0
        return self._ray.remote(
            num_cpus=1,
            num_gpus=share,
            # A process cannot change its GPU once it has used it, and the next task may be given another.
            max_calls=1 if on_gpu else 0,
            max_retries=_RETRIES,
            retry_exceptions=False,
            runtime_env={"env_vars": _environment()},
        )(do_unit)

    def _next(self, running: list[Any]) -> Any:
        """Return a task that has ended, as soon as there is one."""
        alive = answered = time.monotonic()
        while True:
            done, _ = self._ray.wait(running, num_returns=1, timeout=_LOOK_SECONDS)
            if done:
                return done[0]
            asked = self._address or os.environ.get("RAY_ADDRESS", "")
            head = asked if "://" in asked else self._ray.get_runtime_context().gcs_address
            if not _answers(head):  # nor would Ray answer anything else
                if time.monotonic() - answered >= _HEAD_SECONDS:
                    lost = (
                        f"lost the head of the Ray cluster, {head}; what is done is kept: start it again, and give the "
                        "same command"
                    )
                    # At once: what is left to do with Ray may take until it ends the program.
                    warnings.warn(lost, DovetailWarning, stacklevel=2)
                    raise DovetailError(lost)
                continue
            answered = time.monotonic()
            try:
                find_places(self._ray.nodes(), self._jobs, self._device or self.places[0].partition(":")[0])
                alive = time.monotonic()
            except DovetailError as error:
                if time.monotonic() - alive >= _PATIENCE_SECONDS:
                    raise DovetailError(
                        f"{error}; the nodes that it had are lost. What is done is kept: give it nodes and start the "
                        "run again"
                    ) from error

    def _outcome(self, done: Any, unit: Unit) -> Outcome:
        try:
            return Outcome(unit, **self._ray.get(done))
        except self._ray.exceptions.RayTaskError as error:
            if "No module named 'dovetail'" in str(error):
                return Outcome(
                    unit,
                    error="a node of the Ray cluster has no Dovetail; install it on each, in the same version",
                )
            return Outcome(unit, error=f"internal error: {one_line(error)}", trace=str(error))
        except self._ray.exceptions.RayError as error:
            return Outcome(unit, error=f"Ray gave it up ({type(error).__name__}): {one_line(error)}")


def do_unit(work: str, settings: dict[str, Any], key: str, version: str, device: str) -> dict[str, object]:
    """Do a unit in a worker of the cluster, if that has the Dovetail which asks for it."""
    unit = Unit(work, settings)
    node = f"node {socket.gethostname()} of the Ray cluster"
    if version != __version__ or unit.key != key:
        outcome = Outcome(
            unit,
            error=f"{node} has another Dovetail ({__version__}) than the process that leads ({version}); install the "
            "same on each",
        )
    elif device == _GPU and not torch.cuda.is_available():
        outcome = Outcome(
            unit, error=f"{node} should have a GPU, but PyTorch finds none; is it a build without CUDA?"
        )
    else:
        outcome = perform(unit, device)
    return outcome.to_dict()


def find_places(
    nodes: Sequence[Mapping[str, Any]], jobs: int | None = None, device: str | None = None
) -> list[str]:
    """Return the device of each unit that can run at the same time.

    Parameters
    ----------
    nodes : sequence of mapping
        What ``ray.nodes()`` says.
    jobs : int, optional
        Units on each GPU, or on all CPUs.
    device : {"cpu", "cuda"}, optional
        What to run on. Default: GPUs if there are any, else CPUs.

    Raises
    ------
    DovetailError
        If there is nothing to run on.

    Examples
    --------
    >>> find_places([{"Alive": True, "Resources": {"CPU": 16.0, "GPU": 2.0}}], jobs=2)
    ['cuda:0', 'cuda:0', 'cuda:0', 'cuda:0']
    """
    if device not in (None, "cpu", "cuda"):
        raise SpecError(
            f"on a Ray cluster the device is 'cpu' or 'cuda', not {device!r}; Ray chooses which GPU"
        )
    # Nodes have a resource only if they have some of it.
    alive = [node["Resources"] for node in nodes if node["Alive"]]
    gpus = sum(int(has.get("GPU", 0)) for has in alive)
    cpus = sum(int(has.get("CPU", 0)) for has in alive)
    if device == "cuda" or (device is None and gpus):
        # A unit takes a CPU beside its GPU.
        found = [_GPU] * sum(
            min(int(has.get("CPU", 0)), int(has.get("GPU", 0)) * (jobs or 1)) for has in alive
        )
    else:
        found = ["cpu"] * min(cpus, jobs or cpus)
    if not found:
        wanted = "CPU" if device == "cpu" or not (gpus or device) else "GPU with a CPU beside it"
        raise DovetailError(
            f"the Ray cluster has no {wanted} to run on: {len(alive)} nodes with {cpus} CPUs and {gpus} GPUs"
        )
    return found


def _environment() -> dict[str, str]:
    """Return what is set for all workers: one thread each, and where the data is."""
    found = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    if folder := os.environ.get("DOVETAIL_DATA"):
        found["DOVETAIL_DATA"] = str(expand_user(folder).absolute())
    return found


def import_ray() -> ModuleType:
    """Return the package, or say how to get it."""
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise DovetailError("engine 'ray' needs the package ray: pip install 'dovetail-nn[ray]'") from error
    return ray


@contextmanager
def connected(ray: ModuleType, address: str | None) -> Iterator[None]:
    """Connect for a while, unless the program that uses Dovetail has done so."""
    if ray.is_initialized():
        yield
        return
    # Ray prints that a worker was lost to the standard output, where tables and JSON go, and has no option not to.
    printing, sys.stdout = sys.stdout, cast(TextIO, _WithoutRay(sys.stdout))
    try:
        _connect(ray, address)
        yield
    finally:
        ray.shutdown()
        sys.stdout = printing


class _WithoutRay:
    """A standard output that takes nothing from threads of Ray's, which bear its name."""

    def __init__(self, output: TextIO) -> None:
        self._output = output

    def write(self, text: str) -> int:
        """Write what is not Ray's."""
        if threading.current_thread().name.startswith("ray_"):
            return len(text)
        return self._output.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._output, name)


def _connect(ray: ModuleType, address: str | None) -> None:
    asked = address or os.environ.get("RAY_ADDRESS") or "auto"
    try:
        where = asked if "://" in asked else _find_cluster(asked)
    except (ConnectionError, ValueError, OSError) as error:
        raise DovetailError(f"found no Ray cluster ({one_line(error)}); {_HOW_TO_START}") from error
    try:
        _knock(where)  # Ray itself would try for many minutes
    except (OSError, ValueError) as error:
        raise DovetailError(
            f"no Ray cluster answers at {where} ({error}); {_HOW_TO_START}, or give the right address"
        ) from error
    try:
        ray.init(address=where, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:  # of many kinds
        raise DovetailError(f"cannot connect to the Ray cluster at {where}: {one_line(error)}") from error


def _find_cluster(address: str) -> str:
    """Return host and port of the cluster that Ray understands by an address, before it connects."""
    if address == "auto":
        # Where `ray.init` says that it looks for the cluster that was last started here.
        place = Path(os.environ.get("RAY_TMPDIR") or "/tmp") / "ray" / "ray_current_cluster"
        address = place.read_text("utf-8").strip()
    if not re.fullmatch(r"[^\s:/]+:\d{1,5}|\[[^\s/]+\]:\d{1,5}", address):
        raise ValueError(f"{address!r:.80} is not the address of one")
    return address


def _knock(address: str) -> None:
    """Connect to an address, and leave again.

    Raises
    ------
    OSError, ValueError
        When nobody answers.
    """
    host, _, port = address.rpartition("/")[2].rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _answers(address: str) -> bool:
    try:
        _knock(address)
    except (OSError, ValueError):
        return False
    return True


def one_line(error: BaseException) -> str:
    r"""Return what an error says, shortened; of a traceback its last line, which says what it was.

    Examples
    --------
    >>> one_line(ValueError("no\n  such  address"))
    'no such address'
    """
    text = str(error).strip()
    if "Traceback" in text or "(pid=" in text:
        text = text.splitlines()[-1]
    return " ".join(text.split())[:300] or type(error).__name__
