"""What a recipe will take, before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..recipes import Unit, find_recipe
from ..recipes.costs import makespan, unit_bytes, unit_seconds
from ..recipes.recipe import Scale, check_scale
from . import results_file
from .run_folder import check_folder_is, default_folder, units_beside

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PlannedUnit:
    """A unit and what it should cost.

    Attributes
    ----------
    unit : Unit
        What is to be done.
    cpu_seconds, gpu_seconds : float
        On one core, or on one GPU of the kind that was measured (H200).
    memory : int
        Bytes, if all of its networks train at once; they train in parts where that is too much.
    done : bool
        Whether the run folder has it already.
    """

    unit: Unit
    cpu_seconds: float
    gpu_seconds: float
    memory: int
    done: bool


@dataclass(frozen=True)
class Plan:
    """The units of a recipe and what they should cost.

    Attributes
    ----------
    units : sequence of PlannedUnit
        All units.
    """

    units: Sequence[PlannedUnit]

    def seconds(self, places: int, device: str) -> float:
        """Return how long what is missing takes on so many GPUs (``"cuda"``) or cores (``"cpu"``)."""
        return makespan(
            (one.gpu_seconds if device == "cuda" else one.cpu_seconds for one in self.units if not one.done),
            places,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each unit: what it is, and its cost."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "unit": one.unit.label,
                    "GPU seconds": round(one.gpu_seconds, 1),
                    "core seconds": round(one.cpu_seconds, 1),
                    "memory MiB": round(one.memory / 2**20),
                    "done": one.done,
                }
                for one in self.units
            ]
        )


def plan(name: str, scale: Scale = "smoke", folder: str | Path | None = None) -> Plan:
    """Return what a recipe will take, without doing any of it.

    Parameters
    ----------
    name : str
        The recipe.
    scale : {"smoke", "paper"}
        In which size.
    folder : path, optional
        The run's folder; units that it has, or runs beside it, count as done.

    Examples
    --------
    >>> found = plan("k", "paper")
    >>> found.seconds(8, "cuda") <= found.seconds(1, "cuda")
    True
    """
    recipe = find_recipe(name)
    check_scale(scale)
    where = default_folder(recipe, scale) if folder is None else Path(folder)
    check_folder_is(where, recipe, scale)
    done = results_file.read_results(where / results_file.NAME).keys() | units_beside(where).keys()
    return Plan(
        [
            PlannedUnit(
                unit,
                unit_seconds(unit, "cpu"),
                unit_seconds(unit, "cuda"),
                unit_bytes(unit),
                unit.key in done,
            )
            for unit in dict.fromkeys(recipe.units(scale))
        ]
    )
