"""Threads: linear algebra on one of them, and several pieces of work side by side meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from threading import Lock
from typing import TypeVar

import scipy.linalg  # noqa: F401 (so that the library it computes with is there to be limited)
import torch
from threadpoolctl import OpenBLASController, ThreadpoolController

Result = TypeVar("Result")

if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    # A process that was forked has none of the threads that its parent computes with, and would wait for them for ever.
    os.register_at_fork(after_in_child=partial(torch.set_num_threads, 1))

_MOST_WORKERS = 16
"""Each has a copy of the network in memory."""


def workers() -> int:
    """Return how many copies to make at once: as many threads as torch may use."""
    return min(torch.get_num_threads(), _MOST_WORKERS)


def in_threads(work: Callable[[int], Result], count: int) -> Generator[Result]:
    """Yield what work gives for 0 to count - 1, in this order, with several at once.

    Examples
    --------
    >>> list(in_threads(lambda number: number**2, 4))
    [0, 1, 4, 9]
    """
    with one_blas_thread(), ThreadPoolExecutor(workers()) as pool:
        yield from pool.map(work, range(count))


def map_in_turn(work: Callable[[int], Result], count: int) -> Generator[Result]:
    """Yield what work gives for 0 to count - 1, one after the other: for work that needs much memory.

    Examples
    --------
    >>> list(map_in_turn(lambda number: number**2, 4))
    [0, 1, 4, 9]
    """
    with one_blas_thread():
        for number in range(count):
            yield work(number)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let numpy and scipy compute on one thread inside of the ``with``: products here are too small to be shared out.

    The limit is one of the process. So it is set by the first that asks for it and lifted by the last, whatever thread
    they are in and in whatever order they end.
    """
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


class _Limit:
    """How many are inside of a limit, and what was there before it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._lift: Callable[[], None] = lambda: None

    def enter(self) -> None:
        with self._lock:
            if not self._inside:
                with _by_any_thread():
                    self._lift = _linear_algebra().limit(limits=1).restore_original_limits
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                with _by_any_thread():
                    self._lift()


_limit = _Limit()


@contextmanager
def _by_any_thread() -> Iterator[None]:
    """Set limits in this thread, and let others set theirs afterwards.

    Newer versions of threadpoolctl listen to the first thread that sets a limit, and to no other until that one lifts
    it. Here the last one to leave lifts it, which may be another.
    """
    give_up_control = getattr(OpenBLASController, "clear_controlling_thread", lambda force: None)
    give_up_control(force=True)
    yield
    give_up_control(force=True)


@cache
def _linear_algebra() -> ThreadpoolController:
    """Return the libraries that numpy and scipy compute with; looking for them takes longer than a step of a penalty.

    OpenMP is left out, because its limit is that of torch, which says how many workers there may be.
    """
    return ThreadpoolController().select(user_api="blas")
