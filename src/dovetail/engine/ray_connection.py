"""To a Ray cluster and back: without waiting in vain, and without a word."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from ..errors import DovetailError

_HOW_TO_START = "start one with 'ray start --head', and 'ray start --address=HOST:6379' on further machines"


def import_ray() -> ModuleType:
    """Return the package, or say how to get it."""
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise DovetailError("engine 'ray' needs the package ray: pip install 'dovetail[ray]'") from error
    return ray


@contextmanager
def connected(ray: ModuleType, address: str | None) -> Iterator[None]:
    """Connect for a while, unless the program that uses Dovetail has done so."""
    if ray.is_initialized():
        yield
        return
    from ray._private import worker

    printing = worker._worker_logs_enabled
    # Ray prints that a worker was lost to the standard output, where tables and JSON go, and has no option not to.
    worker._worker_logs_enabled = False
    try:
        _connect(ray, address)
        yield
    finally:
        ray.shutdown()
        worker._worker_logs_enabled = printing


def _connect(ray: ModuleType, address: str | None) -> None:
    asked = address or os.environ.get("RAY_ADDRESS") or "auto"
    try:
        where = asked if "://" in asked else _find_cluster(asked)
    except (ConnectionError, ValueError, OSError) as error:
        raise DovetailError(f"found no Ray cluster ({one_line(error)}); {_HOW_TO_START}") from error
    host, _, port = where.rpartition("/")[2].rpartition(":")
    try:
        # Ray itself would try for many minutes.
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
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
    from ray._private.services import canonicalize_bootstrap_address

    found = canonicalize_bootstrap_address(address)
    if found is None:
        raise ValueError(f"{address!r} is not the address of one")
    return found


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
