"""A run's folder: what was asked, what is finished, and what came of it.

``config.yaml`` says which recipe at which scale; ``results.jsonl`` has a line for each finished unit; ``table.md`` and
``figures/`` are made from it and can be made again at any time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from ..errors import DovetailError, FileFormatError, explained
from ..io.lock import LOCK, take_lock
from ..io.provenance import versions
from ..io.write import write_whole
from ..recipes import Finished, Recipe, Unit
from ..recipes.recipe import Scale
from ..recipes.unit import canonical, finished_units
from . import results_file
from .folder_files import check_own, open_own

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONFIG = "config.yaml"
FIGURES = "figures"
_TABLES = "table.md"
_ERRORS = "errors.log"
_REMARKS = "remarks.md"
_OWN = (CONFIG, results_file.NAME, _TABLES, FIGURES, _ERRORS, LOCK)
_MOST_CONFIG_BYTES = 2**16
"""The largest ``config.yaml`` that is read; one of ours has a few lines."""
_MOST_NEIGHBOUR_BYTES = 64 * 2**20
"""The largest results of another run that are looked through."""
_MOST_REMARKS = 2**20
_DPI = 120
ODD_ROW = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What tables end with that are made of rows which no work writes."""
_MARK, _MARK_WITHIN = "Dovetail, a figure of a run", 1_000
"""What our figures say made them, near their start, so that those of others are left alone."""


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
        self._scale: Scale = scale
        self._results = path / results_file.NAME
        check_folder_is(path, recipe, scale)
        with explained(f"cannot make the folder {path}", "choose another, with -o"):
            path.mkdir(parents=True, exist_ok=True)
        with explained(f"cannot write into the folder {path}", "choose another"):
            self._lock = take_lock(path)
        try:
            check_folder_is(path, recipe, scale)  # again: another run may have begun here meanwhile
            if not _config(path):
                config = {"recipe": recipe.name, "scale": scale, **versions()}
                # Each value as JSON, which YAML understands.
                text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in config.items())
                write_whole(path / CONFIG, lambda file: file.write_text(text, encoding="utf-8"))
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
        """Return those of the units that are finished, in their order, by an older version where there is no newer."""
        return finished_units(units, self._finished)

    def missing(self, units: Sequence[Unit]) -> list[Unit]:
        """Return those of the units that are not finished by the versions of now, each once."""
        return [unit for unit in dict.fromkeys(units) if unit.key not in self._finished]

    def add(self, finished: Sequence[Finished]) -> None:
        """Keep finished units."""
        results_file.add_results(self._results, finished)
        # As they will be read again: tables come out the same whether a run was interrupted or not.
        self._finished |= {one.unit.key: replace(one, row=json.loads(canonical(one.row))) for one in finished}

    def note_trace(self, unit: Unit, trace: str) -> None:
        """Write down where an error came from that nobody foresaw."""
        if trace:
            # A full disk, or a link in the way, must not hide why a unit could not be done, which is told anyway.
            with suppress(OSError, DovetailError), open_own(self.path / _ERRORS, "a") as file:
                file.write(f"{unit.label} ({unit.key})\n{trace}\n")

    def copy_from_neighbours(self, units: Sequence[Unit]) -> int:
        """Copy units that other runs beside this one have finished; return how many."""
        known = units_beside(self.path)
        wanted = [known[unit.key] for unit in self.missing(units) if unit.key in known]
        if not self._fit(wanted):
            wanted = [one for one in wanted if self._fit([one])]
        self.add(wanted)
        return len(wanted)

    def _fit(self, finished: Sequence[Finished]) -> bool:
        """Whether the tables can take in what another run has finished; what they cannot would break this folder."""
        try:
            self._recipe.tables(self._scale, finished)
        except ODD_ROW:
            return False
        return True

    def write_tables(self, finished: Sequence[Finished]) -> None:
        """Write ``table.md`` and the figures."""
        write_tables(self.path, self._recipe, self._scale, finished)


def check_folder_is(path: Path, recipe: Recipe, scale: Scale) -> None:
    """Refuse a folder that holds another run, files that are not a run's but would be overwritten, or links."""
    with explained(f"cannot look into the folder {path}"):  # such as a name that is too long
        is_file = path.exists() and not path.is_dir()
    if is_file:
        raise DovetailError(f"cannot make the folder {path}: there is a file of that name")
    for name in _OWN:
        check_own(path / name)
    config = _config(path)
    if config and (config.get("recipe"), config.get("scale")) != (recipe.name, scale):
        raise DovetailError(
            f"{path} holds a run of {config.get('recipe')!s:.60} at scale {config.get('scale')!s:.60}, not of "
            f"{recipe.name} at scale {scale}; take another folder"
        )
    ours = [name for name in (results_file.NAME, _TABLES, FIGURES) if (path / name).exists()]
    if not config and ours:
        raise DovetailError(
            f"{path} is not a run folder, but has {' and '.join(ours)}, which a run would overwrite; take another"
        )


def units_beside(path: Path) -> dict[str, Finished]:
    """Return by key all that runs beside a folder have finished; links and files of a strange size are left out."""
    found: dict[str, Finished] = {}
    for neighbour in sorted(path.resolve().parent.glob(f"*/{results_file.NAME}")):
        if neighbour.parent == path.resolve() or neighbour.parent.is_symlink():
            continue
        with suppress(DovetailError, OSError):  # what is wrong with another run is not this one's trouble
            if neighbour.stat().st_size <= _MOST_NEIGHBOUR_BYTES:
                found |= results_file.read_results(neighbour)
    return found


def write_tables(folder: Path, recipe: Recipe, scale: Scale, finished: Sequence[Finished]) -> None:
    """Write ``table.md`` and the figures of a recipe into a folder."""
    text = "\n".join(table.to_markdown() for table in recipe.tables(scale, finished))
    head = f"# {recipe.title}\n\n{recipe.shows}.\n\n"
    write_whole(folder / _TABLES, lambda path: path.write_text(head + text, encoding="utf-8"))
    write_figures(folder, recipe, scale, finished)


def _config(folder: Path) -> dict[str, str]:
    """Return what a folder's ``config.yaml`` says; nothing if there is none, or an empty one."""
    file = folder / CONFIG
    return read_config(folder) if file.exists() and file.stat().st_size else {}


def read_config(folder: Path) -> dict[str, str]:
    """Return what a run folder's ``config.yaml`` says.

    Raises
    ------
    FileFormatError
        If there is none, or it is not one of ours.
    DovetailError
        If it is a link.
    """
    try:
        with open_own(folder / CONFIG, "r") as file:
            text: str = file.read(_MOST_CONFIG_BYTES + 1)
        if len(text) > _MOST_CONFIG_BYTES:
            raise ValueError(f"it has more than {_MOST_CONFIG_BYTES:,} characters")
        pairs = [line.partition(": ") for line in text.splitlines() if line.strip()]
        return {key: json.loads(value) for key, _, value in pairs}
    except (OSError, ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{folder} is not a run folder: its {CONFIG} cannot be read ({error})"
        ) from error


def read_remarks(folder: Path) -> str:
    """Return what someone has said about the numbers of a run, in ``remarks.md``; nothing where a link leads to it.

    Raises
    ------
    FileFormatError
        If it cannot be read as text.
    """
    file = folder / _REMARKS
    if not file.is_file() or file.is_symlink():
        return ""
    try:
        with open_own(file, "r") as opened:
            return str(opened.read(_MOST_REMARKS))
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"cannot read {file}: {error}") from error


def figures_in(folder: Path) -> list[Path]:
    """Return the figures in a run folder, in order of name; none that a link leads to."""
    pictures = folder / FIGURES
    if pictures.is_symlink():
        return []
    return sorted(
        path
        for path in pictures.glob("*.png")
        if path.is_file() and not path.is_symlink() and not path.name.startswith(".")
    )


def write_figures(folder: Path, recipe: Recipe, scale: Scale, finished: Sequence[Finished]) -> None:
    """Write the figures of a recipe into a run folder; those go that a run drew and the recipe no longer has.

    Raises
    ------
    DovetailError
        If the folder of figures is a link, or nothing can be written there.
    """
    pictures = folder / FIGURES
    check_own(pictures)
    with explained(f"cannot write {pictures}"):
        old = {path for path in figures_in(folder) if _is_ours(path)}
        for name, figure in recipe.figures(scale, finished):
            pictures.mkdir(exist_ok=True)
            new = write_whole(pictures / f"{name}.png", lambda path, drawn=figure: _save(drawn, path))  # type: ignore[misc]
            old.discard(new)
        for path in old:
            path.unlink()


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, format="png", dpi=_DPI, bbox_inches="tight", metadata={"Software": _MARK})


def _is_ours(picture: Path) -> bool:
    with open_own(picture, "rb") as file:
        return _MARK.encode() in file.read(_MARK_WITHIN)
