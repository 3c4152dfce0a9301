"""Runs of recipes: do what is missing, keep what is done, put it beside the published."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DovetailError
from ..markup import text_html
from ..population.progress import ProgressBar
from ..recipes import Comparison, Finished, Recipe, Table, Unit, find_recipe
from ..recipes.recipe import Scale, check_scale
from ..result import Result
from .costs import unit_seconds
from .engines import Engine, EngineName, find_engine
from .perform import Outcome
from .run_folder import RunFolder, default_folder

if TYPE_CHECKING:
    import pandas as pd

_FULL = 10_000
"""What the progress bar counts to."""


@dataclass(frozen=True)
class Run(Result):
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
        The units that are done, if only by an older version of their work.
    failed : mapping of Unit to str
        For each unit that could not be done, why.
    from_others : int
        How many units were copied from runs beside this one.
    done : int
        How many units were done now.
    """

    recipe: Recipe
    scale: Scale
    folder: Path
    finished: Sequence[Finished]
    failed: Mapping[Unit, str] = field(default_factory=dict)
    from_others: int = 0
    done: int = 0

    @cached_property
    def tables(self) -> list[Table | Comparison]:
        """Ours beside the published."""
        return self.recipe.tables(self.scale, self.finished)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows of all tables, each with the title of its table."""
        import pandas as pd

        frames = [table.to_frame().assign(table=table.title) for table in self.tables]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def to_dict(self) -> dict[str, object]:
        """Return the tables, and what could not be done, as plain values, ready for JSON."""
        return {
            "recipe": self.recipe.name,
            "scale": self.scale,
            "folder": str(self.folder),
            "tables": [table.to_dict() for table in self.tables],
            "failed": {unit.label: reason for unit, reason in self.failed.items()},
        }

    def _html_pieces(self) -> Iterable[str]:
        yield text_html(repr(self))
        for table in self.tables:
            yield from table._html_pieces()

    def __repr__(self) -> str:
        trouble = f", {len(self.failed)} not possible" if self.failed else ""
        return f"Run({self.recipe.name}, {self.scale}, {len(self.finished)} units{trouble}, in {str(self.folder)!r})"

    def __str__(self) -> str:
        trouble = [f"Not possible: {reasons(self.failed)}.\n"] if self.failed else []
        return "\n".join([*(table.to_markdown() for table in self.tables), *trouble])


def reasons(failed: Mapping[Unit, str]) -> str:
    """Return every reason once, with the first unit that it was given for."""
    groups: dict[str, list[Unit]] = {}
    for unit, reason in failed.items():
        groups.setdefault(reason, []).append(unit)
    return "; ".join(
        f"{reason} [{units[0].label}{f' and {len(units) - 1} more' if len(units) > 1 else ''}]"
        for reason, units in groups.items()
    )


def reproduce(
    name: str,
    scale: Scale = "smoke",
    folder: str | Path | None = None,
    *,
    engine: EngineName = "local",
    address: str | None = None,
    jobs: int | None = None,
    device: str | None = None,
    progress: bool = True,
    on_unit: Callable[[int, int], None] | None = None,
) -> Run:
    """Run a recipe: a table or figure of a paper, our numbers beside the published.

    Finished units are kept in the folder as they come. Whoever runs the same recipe into the same folder again, after a
    crash or an interruption, gets the same result and waits only for what was missing. Units that other runs beside the
    folder have finished are copied. Units that only an older version of their work has done are done again.

    Parameters
    ----------
    name : str
        The recipe, such as ``"table4"``; ``dovetail reproduce`` lists all.
    scale : {"smoke", "paper"}
        The same in seconds, with little data and few and small networks; or as published.
    folder : path, optional
        Where the run is kept; ``runs/NAME-SCALE`` by default.
    engine : {"local", "ray"}
        This machine, or a Ray cluster (needs ``pip install 'dovetail-nn[ray]'``).
    address : str, optional
        Of the Ray cluster; the one that Ray finds by itself if not given.
    jobs : int, optional
        The most workers on each GPU, and on the CPU. Default: one on each GPU; on the CPU one on each core that is
        left, as far as memory allows.
    device : str, optional
        Train networks there only, such as ``"cpu"`` or ``"cuda:0"``; on this machine, units that train none run on the
        CPU.
    progress : bool
        Show progress (on terminals only).
    on_unit : callable, optional
        Is told how many units are done and how many there are: at the start, and after each. It may raise, to stop;
        what is finished is kept.

    Returns
    -------
    Run
        Its ``tables`` have ours beside the published; printing it shows them.

    Raises
    ------
    DovetailError
        If no unit could be done, with the reasons; units that could not be done beside others are in ``run.failed``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = reproduce("k", folder=folder, jobs=1, progress=False)
    >>> run.recipe.paper, len(run.failed)
    ('cluster', 0)
    """
    recipe = find_recipe(name)
    check_scale(scale)
    units = list(dict.fromkeys(recipe.units(scale)))
    doing = find_engine(engine, address=address, jobs=jobs, device=device)
    where = default_folder(recipe, scale) if folder is None else Path(folder)
    with RunFolder(where, recipe, scale) as kept:
        from_others = kept.copy_from_neighbours(units)
        missing = kept.missing(units)
        failed: dict[Unit, str] = {}
        if on_unit is not None:
            on_unit(len(units) - len(missing), len(units))
        if missing:
            with closing(_watched(doing, missing, recipe.name, show=progress)) as outcomes:
                for outcome in outcomes:
                    if outcome.row is None:
                        failed[outcome.unit] = outcome.error
                        kept.note_trace(outcome.unit, outcome.trace)
                    else:
                        kept.add([Finished(outcome.unit, outcome.row, outcome.seconds, outcome.device)])
                    if on_unit is not None:
                        on_unit(len(units) - len(kept.missing(units)) + len(failed), len(units))
        finished = kept.finished(units)
        if finished:
            kept.write_tables(finished)
    if failed and not finished:
        raise DovetailError(f"no unit of {recipe.name} could be done: {reasons(failed)}")
    return Run(recipe, scale, where, finished, failed, from_others, len(missing) - len(failed))


def _watched(engine: Engine, units: Sequence[Unit], title: str, *, show: bool) -> Generator[Outcome]:
    """Do units and show how far they are: in the recipe's order, or side by side the longest first, to end together."""
    device = engine.places[0].partition(":")[0]
    seconds = {unit: unit_seconds(unit, device) for unit in units}
    if len(engine.places) > 1:
        units = sorted(units, key=lambda unit: -seconds[unit])
    total = sum(seconds.values())
    bar = ProgressBar(title, _FULL, show=show, unit=None, steady=True)
    with bar, closing(engine.run(units)) as outcomes:  # type: ignore[type-var]
        done = failed = 0
        for outcome in outcomes:
            done, failed = done + (outcome.row is not None), failed + (outcome.row is None)
            trouble = f", {failed} not possible" if failed else ""
            bar.advance(
                round(_FULL * seconds[outcome.unit] / total), f"{done} of {len(units)} units{trouble}"
            )
            yield outcome
