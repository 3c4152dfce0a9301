"""Seeds: a network built from a number, whatever other threads build or draw meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import nn

from .build import NetBuilder, check_seed

# Re-entrant, because a builder may itself build from a seed.
_GLOBAL_GENERATOR = threading.RLock()


@contextmanager
def keep_random_state() -> Iterator[None]:
    """Leave PyTorch's global generator of the CPU as it is found, whatever is drawn from it meanwhile.

    Threads that do so wait for each other: one that put the old state back while another builds from a seed would
    change what is built.

    Examples
    --------
    >>> before = torch.random.get_rng_state()
    >>> with keep_random_state():
    ...     _ = torch.rand(3)
    >>> bool((torch.random.get_rng_state() == before).all())
    True
    """
    with _GLOBAL_GENERATOR, torch.random.fork_rng(devices=[]):
        yield


def seeded_build(build: Callable[[], nn.Module], seed: int) -> nn.Module:
    """Build a network on the CPU from a seed, and leave all random states as they were.

    A `NetBuilder` draws from a generator of its own. Any other function can only draw from PyTorch's global generator:
    it is seeded and restored under a lock, so that threads that build wait for each other. Random numbers that another
    thread draws from the global generator in that moment, not through this function, would still interfere.

    Parameters
    ----------
    build : callable
        Makes the network; called without arguments.
    seed : int
        From 0 to 2**63 - 1.

    Examples
    --------
    >>> first, again = (seeded_build(lambda: nn.Linear(2, 2), seed=3) for _ in range(2))
    >>> bool((first.weight == again.weight).all())
    True
    """
    check_seed(seed)
    if isinstance(build, NetBuilder):
        return build(seed)
    with keep_random_state(), torch.device("cpu"):
        # torch.manual_seed would also reseed the GPUs, whose state is not saved here.
        torch.default_generator.manual_seed(seed)
        return build()
