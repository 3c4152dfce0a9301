"""The job of a recipe: `reproduce` at smoke scale. Cancelled and started again, it goes on where it was."""

from __future__ import annotations

from typing import Any

from ...engine import reproduce
from ...engine.reproduction import reasons
from ..jobs import Tell


def run(settings: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Run a recipe into a folder; return the run's name, and why units could not be done if some could not."""
    about = {"run": settings["run"]}

    def told(done: int, units: int) -> None:
        tell(done, units, f"{done} of {units} units", about)

    tell(0, None, "starting", about)
    ended = reproduce(settings["recipe"], "smoke", settings["path"], progress=False, on_unit=told)
    return {**about, "failed": reasons(ended.failed)}
