"""A recipe's tables: ours beside the published, with differences, and with cells marked that are not to be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...recipes import Comparison, Table
from ..fold import folded
from ..page import Page
from ..table import Marks, row_groups

if TYPE_CHECKING:
    import pandas as pd

_MOST_COLUMNS = 12
"""Up to which a table has room on a sheet of paper."""

_KEY = (
    "Δ is ours minus published (for counts, of their shares); a number in brackets is the standard deviation. A dash: "
    "not published, or not measured."
)
_DOUBT = (
    "Published values with ? are not to be trusted: they repeat other cells, or are impossible as described."
)


def add_results(page: Page, tables: Sequence[Table | Comparison], remarks: str = "") -> None:
    """Add all tables, and what someone has said about them.

    Parameters
    ----------
    page : Page
        What to add to.
    tables : sequence of Table or Comparison
        A recipe's.
    remarks : str
        Markdown.
    """
    compared = [table for table in tables if isinstance(table, Comparison)]
    published = any(cell.published for table in compared for cell in table.cells)
    page.heading("Results beside published values" if published else "Results")
    if remarks.strip():
        page.prose(remarks)
    if published:
        page.text(f"{_KEY} {_DOUBT}" if any(_has_doubts(table) for table in compared) else _KEY)
    if not tables:
        page.text("Nothing is finished yet.")
    for table in tables:
        page.subheading(table.title)
        if table.note:
            page.prose(table.note)
        if isinstance(table, Table):
            _add_plain(page, table)
        elif len(table.wide().columns) <= _MOST_COLUMNS:
            _add_comparison(page, table)
        else:
            for part in table.by_metric():
                _add_comparison(page, part)


def _add_plain(page: Page, table: Table) -> None:
    import pandas as pd

    texts = [
        str(name) for name, kind in table.frame.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)
    ]
    for number, (name, part) in enumerate(row_groups(table.frame, texts)):
        with folded(page, name, is_open=number == 0):
            page.table(part, digits=table.digits)


def _add_comparison(page: Page, table: Comparison) -> None:
    labels = list(dict.fromkeys(name for cell in table.cells for name in cell.labels))
    for number, (name, wide) in enumerate(row_groups(table.wide(), labels)):
        marks, short = _marks(wide, labels), [_short(column) for column in wide.columns]
        with folded(page, name, is_open=number == 0):
            page.table(wide.set_axis(short, axis=1), digits=table.digits, marks=marks)


def _marks(wide: pd.DataFrame, labels: Sequence[str]) -> Marks:
    """Return which cells are differences, and which are not to be trusted."""
    marks: dict[tuple[int, int], str] = {}
    for column, name in enumerate(wide.columns):
        if name in labels:
            continue
        for row, text in enumerate(wide[name]):
            kind = "number difference" if name.endswith(" Δ") else "number"
            marks[row, column] = "number doubt" if str(text).endswith(" ?") else kind
    return marks


def _short(column: str) -> str:
    """Return what stands above a column: the metric above ours, and the next two columns belong to it."""
    return column.rpartition(" ")[2] if column.endswith((" published", " Δ")) else column


def _has_doubts(table: Comparison) -> bool:
    return any(cell.published is not None and cell.published.doubt for cell in table.cells)
