"""A run folder: what ``dovetail reproduce`` keeps of a recipe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...engine import Run
from ...engine.results_file import NAME, read_results
from ...engine.run_folder import CONFIG, figures_in, read_config, units_beside
from ...errors import FileFormatError
from ...recipes import find_recipe
from ...recipes.recipe import check_scale

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


def is_run(path: Path) -> bool:
    """Whether a folder is that of a run."""
    return (path / CONFIG).is_file()


def read_run(path: Path) -> RunSource:
    """Read a run's folder without touching it, also while the run goes on.

    Units that runs beside it have finished count too, as they do for the run itself.

    Raises
    ------
    DovetailError
        When its files are damaged, or the recipe is not known here.
    """
    config = read_config(path)
    recipe, scale = find_recipe(str(config.get("recipe"))), str(config.get("scale"))
    check_scale(scale)
    units = list(dict.fromkeys(recipe.units(scale)))  # type: ignore[arg-type]
    kept = units_beside(path) | read_results(path / NAME)
    finished = [kept[unit.key] for unit in units if unit.key in kept]
    run = Run(recipe, scale, path, finished)  # type: ignore[arg-type]
    try:
        run.tables  # noqa: B018 (made once and kept; a damaged result shows here)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise FileFormatError(
            f"results in {path / NAME} are not what the recipe {recipe.name} writes ({type(error).__name__}: {error})"
        ) from error
    remarks = path / "remarks.md"
    try:
        said = remarks.read_text("utf-8") if remarks.is_file() else ""
        pictures = tuple(file for file in figures_in(path) if _is_png(file))
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"cannot read what is in {path}: {error}") from error
    return RunSource(path, run, len(units), config, said, pictures)


def _is_png(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_PNG)) == _PNG
