"""Figures and remarks that lie in a run folder."""

from __future__ import annotations

from pydantic import BaseModel

from ...engine.run_folder import FIGURES, figures_in
from ...errors import DovetailError, FileFormatError
from ...report.prose import prose_html
from ..folder import StudioFolder
from .found_run import FoundRun, inside

_MOST_BYTES = 16 * 2**20
_MOST_FIGURES = 100
_REMARKS = "remarks.md"
_PNG = b"\x89PNG\r\n\x1a\n"


class FigureFile(BaseModel):
    """A figure of a run, and when it was drawn (seconds since 1970)."""

    name: str
    changed: float


def figures_of(run: FoundRun) -> list[FigureFile]:
    """Return the figures that a run has."""
    found = figures_in(run.path)[:_MOST_FIGURES]
    return [FigureFile(name=path.stem, changed=path.lstat().st_mtime) for path in found]


def read_figure(folder: StudioFolder, run: str, name: str) -> bytes:
    """Return a figure, after checking that it is a picture and not too large."""
    content = folder.existing(inside(run, f"{FIGURES}/{name}.png"), _MOST_BYTES).read_bytes()
    if not content.startswith(_PNG):
        raise FileFormatError(f"the figure {name!r:.100} is no PNG; run the recipe again to draw it")
    return content


def remarks_of(folder: StudioFolder, run: FoundRun) -> str:
    """Return what someone wrote about a run's numbers, as HTML; nothing if nobody has."""
    try:
        written = folder.existing(inside(run.name, _REMARKS), 2**20).read_text("utf-8", errors="replace")
    except DovetailError:
        return ""
    return prose_html(written)
