"""A run: what a recipe gave, as something to print and look into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..recipes import Comparison, Finished, Recipe, Table, Unit
from ..recipes.recipe import Scale


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
    """

    recipe: Recipe
    scale: Scale
    folder: Path
    finished: Sequence[Finished]
    failed: Mapping[Unit, str] = field(default_factory=dict)

    @cached_property
    def tables(self) -> list[Table | Comparison]:
        """Ours beside the published."""
        return list(self.recipe.tables(self.finished))

    def __repr__(self) -> str:
        trouble = f", {len(self.failed)} not possible" if self.failed else ""
        return f"Run({self.recipe.name}, {self.scale}, {len(self.finished)} units{trouble}, in {str(self.folder)!r})"

    def __str__(self) -> str:
        return "\n".join(table.to_markdown() for table in self.tables)
