"""A recipe's tables: ours beside the published, with differences, and with cells marked that are not to be trusted."""

from __future__ import annotations

from collections.abc import Sequence

from ...recipes import Comparison, Table
from ..page import Page

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
            page.table(table.frame, digits=table.digits)
        elif len(table.wide().columns) <= _MOST_COLUMNS:
            _add_comparison(page, table)
        else:
            for part in table.by_metric():
                _add_comparison(page, part)


def _add_comparison(page: Page, table: Comparison) -> None:
    wide = table.wide()
    labels = {name for cell in table.cells for name in cell.labels}
    marks: dict[tuple[int, int], str] = {}
    for column, name in enumerate(wide.columns):
        if name in labels:
            continue
        for row, text in enumerate(wide[name]):
            kind = "number difference" if name.endswith(" Δ") else "number"
            marks[row, column] = "number doubt" if str(text).endswith(" ?") else kind
    short = [
        name.rpartition(" ")[2] if name.endswith((" published", " Δ")) else name for name in wide.columns
    ]
    page.table(wide.set_axis(short, axis=1), digits=table.digits, marks=marks)


def _has_doubts(table: Comparison) -> bool:
    return any(cell.published is not None and cell.published.doubt for cell in table.cells)
