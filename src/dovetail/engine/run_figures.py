"""The figures of a run folder: those that are there, and those that a recipe draws."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DovetailError
from ..io.write import write_whole
from ..recipes import Finished, Recipe
from .own_files import check_own, open_own

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = "figures"
_DPI = 120
_MARK, _MARK_WITHIN = "Dovetail, a figure of a run", 1_000
"""What our figures say made them, near their start, so that those of others are left alone."""


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


def write_figures(folder: Path, recipe: Recipe, finished: Sequence[Finished]) -> None:
    """Write the figures of a recipe into a run folder; those go that a run drew and the recipe no longer has.

    Raises
    ------
    DovetailError
        If the folder of figures is a link, or nothing can be written there.
    """
    pictures = folder / FIGURES
    check_own(pictures)
    try:
        old = {path for path in figures_in(folder) if _is_ours(path)}
        for name, figure in recipe.figures(finished):
            pictures.mkdir(exist_ok=True)
            new = write_whole(pictures / f"{name}.png", lambda path, drawn=figure: _save(drawn, path))  # type: ignore[misc]
            old.discard(new)
        for path in old:
            path.unlink()
    except OSError as error:
        raise DovetailError(f"cannot write {pictures}: {error.strerror}") from error


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, format="png", dpi=_DPI, bbox_inches="tight", metadata={"Software": _MARK})


def _is_ours(picture: Path) -> bool:
    with open_own(picture, "rb") as file:
        return _MARK.encode() in file.read(_MARK_WITHIN)
