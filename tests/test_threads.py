"""An audit uses the threads there are, and leaves the process as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, Event, get_ident

import numpy as np
import pytest
import torch
from threadpoolctl import ThreadpoolController, threadpool_limits

import dovetail as dt
from dovetail.cluster.null import Shuffles
from dovetail.threads import in_threads, one_blas_thread

from .cluster.graphs import random_layers


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with threadpool_limits(2, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)


def blas_threads() -> set[int]:
    return {library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers}


@pytest.mark.usefixtures("two_threads")
def test_an_audit_has_as_many_workers_as_torch_has_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    both, workers = Barrier(2, timeout=120), set()
    draw = Shuffles.draw

    def together(self: Shuffles, rng: np.random.Generator) -> list[np.ndarray]:
        workers.add(get_ident())
        assert blas_threads() == {1}
        both.wait()  # never passed by a worker alone
        return draw(self, rng)

    monkeypatch.setattr(Shuffles, "draw", together)
    dt.clusterability(random_layers([20, 20, 20]), 3, 4, progress=False)
    assert len(workers) == 2
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_an_audit_beside_another_has_its_workers_too() -> None:
    together = Barrier(2, timeout=120)
    with one_blas_thread():
        list(in_threads(lambda _: together.wait(), 2))


@pytest.mark.usefixtures("two_threads")
def test_the_number_of_workers_does_not_change_what_is_found() -> None:
    layers = random_layers([40, 60, 40], 0.5)
    two = dt.clusterability(layers, 4, 12, progress=False)
    torch.set_num_threads(1)
    one = dt.clusterability(layers, 4, 12, progress=False)
    assert two.ncut == one.ncut
    assert two.null.tolist() == one.null.tolist()
    assert two.labels.tolist() == one.labels.tolist()
    assert two.stability.ncuts.tolist() == one.stability.ncuts.tolist()


@pytest.mark.usefixtures("two_threads")
def test_limits_that_overlap_leave_linear_algebra_as_it_was() -> None:
    first_is_in, second_is_in, first_has_ended = Event(), Event(), Event()

    def first() -> None:
        with one_blas_thread():
            first_is_in.set()
            assert second_is_in.wait(120)

    def second() -> None:
        assert first_is_in.wait(120)
        with one_blas_thread():  # sees a limit that is not how things were
            second_is_in.set()
            assert first_has_ended.wait(120)
            assert blas_threads() == {1}

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.submit(first), pool.submit(second)
        one.result(120)
        first_has_ended.set()
        other.result(120)
        assert blas_threads() == {2}  # with both threads alive


@pytest.mark.usefixtures("two_threads")
def test_two_audits_in_threads_leave_linear_algebra_as_it_was() -> None:
    layers = random_layers([40, 60, 40], 0.5)
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda copies: dt.clusterability(layers, 4, copies, progress=False), (3, 12, 5, 8))
        assert len({one.ncut for one in found}) == 1
    assert blas_threads() == {2}


_FORK = """
import os, torch
import dovetail.threads
torch.set_num_threads(2)
torch.exp(torch.rand(1_000_000)).sum()
child = os.fork()
if child == 0:
    torch.exp(torch.rand(1_000_000)).sum()
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_forked_process_computes_and_does_not_wait_for_threads_of_its_parent() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    child = subprocess.Popen(
        [sys.executable, "-c", _FORK],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert child.communicate(timeout=300)[0] == "7\n"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
