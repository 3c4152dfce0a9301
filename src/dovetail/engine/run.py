"""A run: what a recipe gave, as something to print and look into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from ..recipes import Comparison, Finished, Recipe, Table, Unit
from ..recipes.recipe import Scale

_IN_SMALL = "In small, with other data and fewer networks, epochs and copies; what follows speaks of the paper's scale."


@dataclass(frozen=True)
class Run:
    """What a recipe gave.

    Attributes
    ----------
    recipe : Recipe
        What was run.
    scale : {"smoke", "paper"}
        In which size.
    folder : Path
        Where it is kept.
    finished : sequence of Finished
        The units that are done.
    failed : mapping of Unit to str
        For each unit that could not be done, why.
    taken : int
        How many units were taken from runs beside this one.
    done : int
        How many units were done now.
    """

    recipe: Recipe
    scale: Scale
    folder: Path
    finished: Sequence[Finished]
    failed: Mapping[Unit, str] = field(default_factory=dict)
    taken: int = 0
    done: int = 0

    @cached_property
    def tables(self) -> list[Table | Comparison]:
        """Ours beside the published."""
        return tables_at(self.scale, self.recipe, self.finished)

    def __repr__(self) -> str:
        trouble = f", {len(self.failed)} not possible" if self.failed else ""
        return f"Run({self.recipe.name}, {self.scale}, {len(self.finished)} units{trouble}, in {str(self.folder)!r})"

    def __str__(self) -> str:
        trouble = [f"Not possible: {reasons(self.failed)}.\n"] if self.failed else []
        return "\n".join([*(table.to_markdown() for table in self.tables), *trouble])


def tables_at(scale: Scale, recipe: Recipe, finished: Sequence[Finished]) -> list[Table | Comparison]:
    """Return a recipe's tables; in small they say so, as their notes speak of the paper's scale."""
    tables = list(recipe.tables(finished))
    if scale == "paper":
        return tables
    return [replace(table, note=f"{_IN_SMALL} {table.note}".strip()) for table in tables]


def reasons(failed: Mapping[Unit, str]) -> str:
    """Return every reason once, with the first unit that it was given for."""
    groups: dict[str, list[Unit]] = {}
    for unit, reason in failed.items():
        groups.setdefault(reason, []).append(unit)
    return "; ".join(
        f"{reason} [{units[0].label}{f' and {len(units) - 1} more' if len(units) > 1 else ''}]"
        for reason, units in groups.items()
    )
