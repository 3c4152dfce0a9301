"""A run folder that was named: whose run it is, and of which units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import cast

from ...engine.costs import unit_seconds
from ...engine.run_folder import CONFIG, read_config
from ...errors import FileFormatError
from ...recipes import Recipe, Unit, find_recipe
from ...recipes.recipe import Scale, check_scale
from ..folder import StudioFolder

_MOST_BYTES = 2**16
"""The largest ``config.yaml`` that is opened; one of a run has a few lines."""


@dataclass(frozen=True)
class FoundRun:
    """A run folder.

    Attributes
    ----------
    name : str
        Relative to the studio's folder; ``"."`` for that folder itself.
    path : Path
        Where it is.
    recipe : Recipe
        What runs in it.
    scale : {"smoke", "paper"}
        In which size.
    """

    name: str
    path: Path
    recipe: Recipe
    scale: Scale

    @property
    def units(self) -> tuple[Unit, ...]:
        """All that there is to do."""
        return units_of(self.recipe.name, self.scale)

    @property
    def costs(self) -> dict[str, float]:
        """What each unit should cost, by its key."""
        return costs_of(self.recipe.name, self.scale)


def find_run(folder: StudioFolder, name: str) -> FoundRun:
    """Return the run in a folder.

    Raises
    ------
    FileFormatError
        When there is a ``config.yaml``, but not of a run.
    DovetailError
        When there is none, or its recipe is not known.
    """
    config = folder.existing(inside(name, CONFIG), _MOST_BYTES)
    try:
        said = read_config(config.parent)
    except FileFormatError as error:
        raise FileFormatError(f"{name!r:.100} is not a run folder: its {CONFIG} cannot be read") from error
    recipe, scale = said.get("recipe"), said.get("scale")
    if not isinstance(recipe, str) or not isinstance(scale, str):
        raise FileFormatError(f"{name!r:.100} is not a run folder: its {CONFIG} names no recipe and scale")
    check_scale(scale)
    return FoundRun(name, config.parent, find_recipe(recipe), cast(Scale, scale))


def inside(name: str, file: str) -> str:
    """Return the name of a file in a folder that has a name.

    Examples
    --------
    >>> inside("runs/k-smoke", "table.md"), inside(".", "table.md")
    ('runs/k-smoke/table.md', 'table.md')
    """
    return file if name == "." else f"{name}/{file}"


@lru_cache(maxsize=128)
def units_of(recipe: str, scale: Scale) -> tuple[Unit, ...]:
    """Return the units of a recipe, each once."""
    return tuple(dict.fromkeys(find_recipe(recipe).units(scale)))


@lru_cache(maxsize=128)
def costs_of(recipe: str, scale: Scale) -> dict[str, float]:
    """Return what each unit of a recipe should cost, by its key: seconds of one core, to weigh them with."""
    return {unit.key: unit_seconds(unit, "cpu") for unit in units_of(recipe, scale)}
