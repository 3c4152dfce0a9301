"""A run folder that was named: whose run it is, of which units, and which of them are finished."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import cast

from ...engine import results_file
from ...engine.costs import unit_seconds
from ...engine.run_folder import CONFIG, read_config
from ...errors import FileFormatError
from ...recipes import Finished, Recipe, Unit, find_recipe
from ...recipes.recipe import Scale, check_scale
from ..cache import Cache
from ..folder import StudioFolder, inside

_MOST_CONFIG_BYTES = 2**16
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
    config = folder.existing(inside(name, CONFIG), _MOST_CONFIG_BYTES)
    try:
        said = read_config(config.parent)
    except FileFormatError as error:
        raise FileFormatError(f"{name!r:.100} is not a run folder: its {CONFIG} cannot be read") from error
    recipe, scale = said.get("recipe"), said.get("scale")
    if not isinstance(recipe, str) or not isinstance(scale, str):
        raise FileFormatError(f"{name!r:.100} is not a run folder: its {CONFIG} names no recipe and scale")
    check_scale(scale)
    return FoundRun(name, config.parent, find_recipe(recipe), cast(Scale, scale))


@lru_cache(maxsize=128)
def units_of(recipe: str, scale: Scale) -> tuple[Unit, ...]:
    """Return the units of a recipe, each once."""
    return tuple(dict.fromkeys(find_recipe(recipe).units(scale)))


@lru_cache(maxsize=128)
def costs_of(recipe: str, scale: Scale) -> dict[str, float]:
    """Return what each unit of a recipe should cost, by its key: seconds of one core, to weigh them with."""
    return {unit.key: unit_seconds(unit, "cpu") for unit in units_of(recipe, scale)}


_MOST_RESULT_BYTES = 64 * 2**20
"""Of a file that is read, and of all files whose units are kept in memory."""


class Results:
    """What ``results.jsonl`` files hold, by their folder.

    Parameters
    ----------
    folder : StudioFolder
        Where they are.
    """

    def __init__(self, folder: StudioFolder) -> None:
        self._folder = folder
        self._kept = Cache[tuple[int, Mapping[str, Finished]]](_MOST_RESULT_BYTES, itemgetter(0))

    def of(self, folder: Path) -> Mapping[str, Finished]:
        """Return the finished units of a folder by key; none where there is no file."""
        named = folder / results_file.NAME
        if not named.exists():
            return {}
        version = self._folder.version(self._folder.relative(named), _MOST_RESULT_BYTES)
        return self._kept.get(version, lambda: (version.size, results_file.read_results(version.path)))[1]

    def changed(self, folder: Path) -> float | None:
        """Return when the last unit was added, in seconds since 1970; nothing before the first."""
        try:
            return (folder / results_file.NAME).stat().st_mtime
        except OSError:
            return None
