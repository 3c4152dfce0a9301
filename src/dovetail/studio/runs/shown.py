"""What the page shows of a run: tables with ours, the published and the difference; figures and remarks."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from ...display import format_value
from ...engine.run_folder import FIGURES, figures_in
from ...errors import DovetailError, FileFormatError
from ...recipes import Comparison, Table
from ...report.prose import prose_html
from ..folder import StudioFolder
from .run_folder import FoundRun, inside

Kind = Literal["label", "ours", "published", "difference"]

_MOST_BYTES = 16 * 2**20

_MOST_FIGURES = 100

_REMARKS = "remarks.md"

_PNG = b"\x89PNG\r\n\x1a\n"


class Column(BaseModel):
    """A column: what stands above it, and what is in it."""

    title: str
    kind: Kind
    number: bool


class ShownTable(BaseModel):
    """A table as text; ``doubtful`` are the places (row, column) of published values that are not to be trusted.

    The note is HTML, as `prose_html` makes it.
    """

    title: str
    note: str
    columns: list[Column]
    rows: list[list[str]]
    doubtful: list[tuple[int, int]]


def shown_table(table: Table | Comparison) -> ShownTable:
    """Return a table as text.

    Examples
    --------
    >>> from dovetail.recipes.tables import Cell, Quantity
    >>> cell = Cell({"data": "mnist"}, "accuracy", Quantity(0.9926), Quantity(0.991, doubt=True))
    >>> shown = shown_table(Comparison("Pairs", [cell]))
    >>> [column.kind for column in shown.columns], shown.rows, shown.doubtful
    (['label', 'ours', 'published', 'difference'], [['mnist', '0.993', '0.991 ?', '+0.002']], [(0, 2)])
    """
    import pandas as pd

    wide = table.wide()
    metrics = {cell.metric for cell in table.cells} if isinstance(table, Comparison) else set()
    columns = []
    for name, kind in zip(wide.columns, wide.dtypes, strict=True):
        role = _role(str(name), metrics)
        number = role != "label" or pd.api.types.is_numeric_dtype(kind)
        columns.append(Column(title=_title(str(name), role), kind=role, number=number))
    rows = [
        [readable(format_value(value, table.digits)) for value in row]
        for row in wide.itertuples(index=False, name=None)
    ]
    doubtful = [
        (number, place)
        for number, row in enumerate(rows)
        for place, text in enumerate(row)
        if columns[place].kind == "published" and text.endswith(" ?")
    ]
    note = prose_html(table.note)
    return ShownTable(title=table.title, note=note, columns=columns, rows=rows, doubtful=doubtful)


def _role(name: str, metrics: set[str]) -> Kind:
    if name in metrics:
        return "ours"
    if name.removesuffix(" published") in metrics:
        return "published"
    return "difference" if name.removesuffix(" Δ") in metrics else "label"


def _title(name: str, role: Kind) -> str:
    """Return a short title: the metric stands above ours, and the next two columns belong to it."""
    return {"published": "published", "difference": "Δ"}.get(role, name)


def readable(value: object) -> str:
    r"""Return a value from a file as text that any page can show.

    Examples
    --------
    >>> readable("a\ud800")
    'a?'
    """
    return str(value).encode("utf-8", "replace").decode()


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
