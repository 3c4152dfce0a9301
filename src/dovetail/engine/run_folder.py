"""A run's folder: what was asked, what is finished, and what came of it.

``config.yaml`` says which recipe at which scale; ``results.jsonl`` has a line for each finished unit; ``table.md`` and
``figures/`` are made from it and can be made again at any time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from .._version import __version__
from ..errors import DovetailError, FileFormatError
from ..recipes import Finished, Recipe, Unit
from ..recipes.recipe import Scale
from ..writing import write_whole
from . import results_file

_CONFIG = "config.yaml"
_TABLES = "table.md"
_DPI = 120


def default_folder(recipe: Recipe, scale: Scale) -> Path:
    """Return where a run is kept when nobody says where."""
    return Path("runs") / f"{recipe.name}-{scale}"


class RunFolder:
    """A folder that one process at a time writes to.

    Parameters
    ----------
    path : Path
        Where; made if it is not there.
    recipe : Recipe
        What runs in it.
    scale : {"smoke", "paper"}
        In which size.

    Raises
    ------
    DovetailError
        If the folder cannot be made, belongs to another recipe or scale, or another process is working in it.
    """

    def __init__(self, path: Path, recipe: Recipe, scale: Scale) -> None:
        self.path = path
        self._recipe = recipe
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = (path / ".lock").open("w")
        except OSError as error:
            raise DovetailError(f"cannot make the folder {path}: {error.strerror}") from error
        try:
            _lock(self._lock.fileno(), path)
            self._check_config({"recipe": recipe.name, "scale": scale, "dovetail": __version__})
            self._results = path / results_file.NAME
            results_file.mend(self._results)
            self._finished = results_file.read_results(self._results)
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.close()

    def finished(self, units: Sequence[Unit]) -> list[Finished]:
        """Return those of the units that are finished, in their order."""
        return [self._finished[unit.key] for unit in units if unit.key in self._finished]

    def missing(self, units: Sequence[Unit]) -> list[Unit]:
        """Return those of the units that are not finished, each once."""
        return [unit for unit in dict.fromkeys(units) if unit.key not in self._finished]

    def add(self, finished: Sequence[Finished]) -> None:
        """Keep finished units."""
        results_file.add_results(self._results, finished)
        self._finished |= {one.unit.key: one for one in finished}

    def take_from_neighbours(self, units: Sequence[Unit]) -> int:
        """Copy units that other runs beside this one have finished; return how many."""
        taken: dict[str, Finished] = {}
        for neighbour in sorted(self.path.resolve().parent.glob(f"*/{results_file.NAME}")):
            if neighbour != self._results.resolve():
                with suppress(DovetailError):  # what is wrong with another run is not this one's trouble
                    taken |= results_file.read_results(neighbour)
        wanted = [taken[unit.key] for unit in self.missing(units) if unit.key in taken]
        self.add(wanted)
        return len(wanted)

    def write_tables(self, finished: Sequence[Finished]) -> None:
        """Write ``table.md`` and the figures."""
        write_tables(self.path, self._recipe, finished)

    def _check_config(self, config: dict[str, str]) -> None:
        file = self.path / _CONFIG
        if not file.exists():
            # Each value as JSON, which YAML understands.
            text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in config.items())
            write_whole(file, lambda path: path.write_text(text, encoding="utf-8"))
            return
        before = read_config(self.path)
        for key in ("recipe", "scale"):
            if before.get(key) != config[key]:
                raise DovetailError(
                    f"{self.path} holds a run of {before.get('recipe')} at scale {before.get('scale')}, not of "
                    f"{config['recipe']} at scale {config['scale']}; take another folder"
                )


def write_tables(folder: Path, recipe: Recipe, finished: Sequence[Finished]) -> None:
    """Write ``table.md`` and the figures of a recipe into a folder."""
    text = "\n".join(table.to_markdown() for table in recipe.tables(finished))
    head = f"# {recipe.title}\n\n{recipe.shows}.\n\n"
    write_whole(folder / _TABLES, lambda path: path.write_text(head + text, encoding="utf-8"))
    for name, figure in recipe.figures(finished):
        (folder / "figures").mkdir(exist_ok=True)
        write_whole(
            folder / "figures" / f"{name}.png",
            lambda path, drawn=figure: drawn.savefig(path, format="png", dpi=_DPI, bbox_inches="tight"),  # type: ignore[misc]
        )


def read_config(folder: Path) -> dict[str, str]:
    """Return what a run folder's ``config.yaml`` says.

    Raises
    ------
    FileFormatError
        If there is none, or it is not one of ours.
    """
    file = folder / _CONFIG
    try:
        pairs = [
            line.partition(": ") for line in file.read_text(encoding="utf-8").splitlines() if line.strip()
        ]
        return {key: json.loads(value) for key, _, value in pairs}
    except (OSError, ValueError) as error:
        raise FileFormatError(
            f"{folder} is not a run folder: its {_CONFIG} cannot be read ({error})"
        ) from error


def _lock(handle: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows; two runs in one folder are the user's affair there
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise DovetailError(
            f"another process is working in {path}; wait for it, or take another folder"
        ) from error
