"""The run folders of a studio: which there are, how far they are, how long they will still take, what came of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar, cast

from pydantic import BaseModel

from ...engine import Run, results_file
from ...engine.costs import unit_seconds
from ...engine.run_folder import CONFIG, read_config
from ...errors import DovetailError, FileFormatError
from ...io.lock import is_worked_in, worked_in_since
from ...recipes import Comparison, Finished, Recipe, Table, Unit, find_recipe, finished_units
from ...recipes.recipe import Scale, check_scale
from ...report.pages.run import run_page
from ..cache import Cache
from ..folder import StudioFolder, inside
from ..studio import Studio

Made = TypeVar("Made")

_MOST_CONFIG_BYTES = 2**16
"""The largest ``config.yaml`` that is opened; one of a run has a few lines."""

_MOST_RESULT_BYTES = 64 * 2**20
"""Of a file that is read, and of all files whose units are kept in memory."""


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


class Sight(NamedTuple):
    """A look at a run that is going on.

    Attributes
    ----------
    began : float
        When the process that is at it began; seconds since 1970, as all times here.
    done : float
        Which share of the work is done.
    changed : float
        When ``done`` became what it is.
    """

    began: float
    done: float
    changed: float


class Pace:
    """Remembers the first look at each run, so that later ones show how fast it is.

    Examples
    --------
    >>> pace = Pace()
    >>> pace.left("a", Sight(began=0, done=0.25, changed=0), now=1)
    >>> pace.left("a", Sight(began=0, done=0.5, changed=20), now=25)
    35.0
    """

    def __init__(self) -> None:
        self._first: dict[str, Sight] = {}
        self._lock = threading.Lock()

    def left(self, name: str, sight: Sight, now: float) -> float | None:
        """Return the seconds that a run will still take; nothing before any progress was seen."""
        with self._lock:
            first = self._first.get(name)
            if first is None or first.began != sight.began or first.done > sight.done:
                first = self._first[name] = sight
        # What was there at the first look was so since the process began, or since its last unit.
        seconds = sight.changed - max(first.changed, first.began)
        if sight.done <= first.done or seconds <= 0:
            return None
        rate = (sight.done - first.done) / seconds
        return max(0.0, (1 - sight.done) / rate - (now - sight.changed))

    def forget(self, name: str) -> None:
        """Forget a run that has ended."""
        with self._lock:
            self._first.pop(name, None)


class RunState(BaseModel):
    """How far a run is; times in seconds, dates in seconds since 1970.

    ``share`` is how much is done; while it runs, units weigh what they should cost. ``left`` is there when the studio
    has seen the run move.
    """

    name: str
    recipe: str
    title: str
    shows: str
    scale: Scale
    state: Literal["complete", "running", "stopped"]
    units: int
    done: int
    share: float
    left: float | None
    changed: float | None


class DamagedRun(BaseModel):
    """A run folder that cannot be shown, and why."""

    name: str
    problem: str


class StudioRuns:
    """The run folders of a studio; results that have not changed are not read again.

    Parameters
    ----------
    studio : Studio
        Whose folder is looked through.
    """

    def __init__(self, studio: Studio) -> None:
        self._folder: StudioFolder = studio.folder
        self._results = Cache[tuple[int, Mapping[str, Finished]]](_MOST_RESULT_BYTES, itemgetter(0))
        self._pace = Pace()

    def runs(self, configs: Sequence[str]) -> tuple[list[RunState], list[DamagedRun]]:
        """Return how far the runs are whose ``config.yaml`` files are named, and those that cannot be shown."""
        good: list[RunState] = []
        bad: list[DamagedRun] = []
        for config in configs:
            name = Path(config).parent.as_posix()
            try:
                good.append(self.state(find_run(self._folder, name)))
            except DovetailError as error:
                # Other programs have files of that name too; only one that is a run's can be damaged.
                if not isinstance(error, FileFormatError) or _is_ours(self._folder.root / config):
                    bad.append(DamagedRun(name=name, problem=self._folder.without_root(str(error))))
        return good, bad

    def state(self, run: FoundRun) -> RunState:
        """Return how far a run is."""
        done = self._done(run)
        results = run.path / results_file.NAME
        changed = results.stat().st_mtime if results.exists() else None
        running = is_worked_in(run.path)
        share, left = len(done) / max(1, len(run.units)), None
        if running:  # for others nobody waits, and costs take a while to work out
            share = sum(run.costs[key] for key in done) / sum(run.costs.values())
            began = worked_in_since(run.path)
            left = self._pace.left(run.name, Sight(began, share, changed or began), time.time())
        else:
            self._pace.forget(run.name)
        ended: Literal["complete", "stopped"] = "complete" if len(done) == len(run.units) else "stopped"
        return RunState(
            name=run.name, recipe=run.recipe.name, title=run.recipe.title, shows=run.recipe.shows, scale=run.scale,
            state="running" if running else ended, units=len(run.units), done=len(done), share=share, left=left,
            changed=changed,
        )  # fmt: skip

    def page(self, run: FoundRun) -> str:
        """Return what a report says of a run, ours beside the published, as HTML.

        Raises
        ------
        FileFormatError
            When the results are not what the recipe expects.
        """
        html = self._made(run, lambda made: run_page(made).content())
        return html.encode("utf-8", "replace").decode()  # files may hold what no encoding knows

    def tables(self, run: FoundRun) -> Sequence[Table | Comparison]:
        """Return the tables of a run, of what is finished.

        Raises
        ------
        FileFormatError
            When the results are not what the recipe expects.
        """
        return self._made(run, lambda made: made.tables if made.finished else [])

    def _made(self, run: FoundRun, make: Callable[[Run], Made]) -> Made:
        """Return what is made of a run's results."""
        finished = finished_units(run.units, self._known(run))
        try:
            return make(Run(run.recipe, run.scale, run.path, finished))
        except Exception as error:  # rows that were altered make recipes fail in their own ways
            raise FileFormatError(
                f"the results in {run.name!r} cannot be put into tables ({type(error).__name__}: {error}); "
                f"if results.jsonl was altered, delete it and run {run.recipe.name} again"
            ) from error

    def results(self, folder: Path) -> Mapping[str, Finished]:
        """Return the finished units of a folder by key; none where there is no file."""
        named = folder / results_file.NAME
        if not named.exists():
            return {}
        version = self._folder.version(self._folder.relative(named), _MOST_RESULT_BYTES)
        read = results_file.read_results
        return self._results.get(version, lambda: (version.size, read(version.path)))[1]

    def _done(self, run: FoundRun) -> list[str]:
        """Return the keys of the units that are not to be done again, in their order."""
        known = self._known(run)
        return [unit.key for unit in run.units if unit.key in known]

    def _known(self, run: FoundRun) -> Mapping[str, Finished]:
        """Return finished units by key; those of runs beside it too, which it would copy."""
        known: dict[str, Finished] = {}
        for beside in self._neighbours(run):
            try:
                known |= self.results(beside)
            except DovetailError:  # what is wrong with another run is not this one's trouble
                continue
        known |= self.results(run.path)
        return known

    def _neighbours(self, run: FoundRun) -> list[Path]:
        if run.path == self._folder.root:  # what is beside it is not the studio's to read
            return []
        return sorted(config.parent for config in run.path.parent.glob(f"*/{CONFIG}"))


def _is_ours(config: Path) -> bool:
    """Whether a ``config.yaml`` says that it is a run's, well-formed or not."""
    try:
        with config.open(encoding="utf-8", errors="replace") as file:
            start = file.read(1_000)
    except OSError:
        return False
    return "recipe: " in start and "dovetail: " in start
