"""What can run beside the server: names of jobs, and the modules that do them."""

from __future__ import annotations

from typing import Any, Protocol

KINDS: dict[str, str] = {
    "audit": "dovetail.studio.audit.job",
    "demo": "dovetail.studio.bench.demo_job",
    "recipe": "dovetail.studio.runs.job",
}
"""Modules by name of the job; each has ``run(settings: dict, tell: Tell)``, which returns the result as JSON."""


class Tell(Protocol):
    """How a job says how far it is."""

    def __call__(self, done: float, total: float | None, note: str = "", partial: Any = None) -> None:
        """Say that ``done`` of ``total`` is done; ``partial``, if given, is all that there is of the result so far."""
