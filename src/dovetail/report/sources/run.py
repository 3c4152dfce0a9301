"""A run folder: what ``dovetail reproduce`` keeps of a recipe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...engine import Run
from ...engine.run_folder import figures_in, read_config
from ...errors import FileFormatError
from ...opening import open_run

_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class RunSource:
    """A run, as far as it is.

    Attributes
    ----------
    path : Path
        Its folder.
    run : Run
        Recipe, scale and finished units.
    units : int
        How many units the recipe has.
    config : dict of str to str
        What its ``config.yaml`` says.
    remarks : str
        What someone has said about the numbers, in ``remarks.md``; markdown.
    pictures : tuple of Path
        Its figures.
    """

    path: Path
    run: Run
    units: int
    config: dict[str, str]
    remarks: str
    pictures: tuple[Path, ...]


def read_run(path: Path) -> RunSource:
    """Read a run's folder without touching it, also while the run goes on.

    Units that runs beside it have finished count too, as they do for the run itself.

    Raises
    ------
    DovetailError
        When its files are damaged, or the recipe is not known here.
    """
    run = open_run(path)
    remarks = path / "remarks.md"
    try:
        said = remarks.read_text("utf-8") if remarks.is_file() else ""
        pictures = tuple(file for file in figures_in(path) if _is_png(file))
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"cannot read what is in {path}: {error}") from error
    units = len(set(run.recipe.units(run.scale)))
    return RunSource(path, run, units, read_config(path), said, pictures)


def _is_png(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_PNG)) == _PNG
