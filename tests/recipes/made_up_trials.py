"""Rows as units of sculpting give them, without sculpting anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dovetail.recipes import Finished, Unit
from dovetail.recipes.sculpt.settings import choices_of

VERDICTS = ("whole", "feeds", "inputs", "outputs", "hidden", "intermediate", "middle")


def made_up(units: Iterable[Unit], *, successes: int = 3, epochs: int | None = 20) -> list[Finished]:
    """Return units as finished: the first few seeds are successes in every way, the others in none."""
    return [Finished(unit, _row(unit, successes, epochs), 1.0, "cpu") for unit in units]


def _row(unit: Unit, successes: int, epochs: int | None) -> dict[str, Any]:
    if epochs is None:
        return {"epochs": None, "learned": 2, "trials": [], "example": None}
    seeds = unit.settings["seeds"]
    trials = [_trial(unit, seed, good=seed < successes) for seed in seeds]
    example = {"hierarchy": None, "products": [[1.0, 0.9, 0.1, 0.2]] * 4}
    return {"epochs": epochs, "learned": len(seeds), "trials": trials, "example": example}


def _trial(unit: Unit, seed: int, *, good: bool) -> dict[str, Any]:
    settings = unit.settings
    verdicts = dict.fromkeys(VERDICTS, good)
    depth = len(settings["hidden"])
    return {
        "seed": seed, "outcome": "sculpted", "accuracy": 1.0, "edges": 16 + seed, "units": [4] * (depth + 2), "tied": 2,
        "cell": [0.3, 0.01], "modules": _modules(settings["task"], depth, good=good),
        "distances_tied": False, "at_depth": verdicts, "full": verdicts, "needed": [3 + seed] * depth,
        "separability": {
            "rejected": good, "t": [-5.0, None], "p": [0.001, 0.0] if good else [0.001, 0.2], "own": [3.0, 3.0],
            "other": [1.0, 1.0],
        },
        "choices": {str(choice): good for choice in choices_of(settings["choices"])},
    }  # fmt: skip


def _modules(task: Any, depth: int, *, good: bool) -> list[dict[str, Any]]:
    """Return two modules for a success and three for a failure; with three of five inputs shared, all inputs."""
    module = {"inputs": [0], "hidden": [1] * depth, "outputs": [0]}
    if good and next(iter(task)) == 5:
        return [module | {"inputs": inputs} for inputs in ([0], [1, 2, 3], [4])]
    return [module] * (2 if good else 3)
