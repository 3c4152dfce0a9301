"""Run folders for tests, with made-up results: nothing is trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dovetail.engine import Outcome, RunFolder
from dovetail.recipes import Finished, Unit, find_recipe
from dovetail.recipes.recipe import Scale

RECIPE = "halves"
"""Has few units, and published values at the paper's scale."""

UNITS = 4


def row(ncut: float = 8.5) -> dict[str, Any]:
    """Return what a unit could have given."""
    measures = {
        "ncut": [ncut], "dist_ncut": [9.0], "dist_sd": [0.03], "p_value": [0.02], "z_score": [-8.0],
        "components": [1.0],
    }  # fmt: skip
    phase = {
        "measures": [measures], "sparsity": [0.9],
        "test": {"accuracy": [0.99], "loss": [0.02]}, "train": {"accuracy": [1.0], "loss": [0.0]},
    }  # fmt: skip
    return {"pruned": phase, "unpruned": phase}


def finished_units(scale: Scale = "paper") -> list[Finished]:
    """Return all units of the recipe as if they were done."""
    return [Finished(unit, row(), 2.5, "a test") for unit in find_recipe(RECIPE).units(scale)]


def open_run(path: Path, scale: Scale = "paper") -> RunFolder:
    """Return a run folder that is being worked in until it is closed."""
    return RunFolder(path, find_recipe(RECIPE), scale)


def write_run(path: Path, done: int = UNITS, *, drawn: bool = False) -> Path:
    """Write a run folder with a number of finished units; with its tables and figures if they shall be ``drawn``."""
    with open_run(path) as folder:
        units = finished_units()[:done]
        folder.add(units)
        if drawn:
            folder.write_tables(units)
    return path


class QuickEngine:
    """Does units at once."""

    places = ("cpu",)

    def run(self, units: Sequence[Unit]) -> Iterator[Outcome]:
        """Yield a made-up outcome for each unit."""
        for unit in units:
            yield Outcome(unit, row(), 0.1, "cpu")
