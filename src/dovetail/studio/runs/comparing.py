"""Several runs side by side: what each has in the cells of its tables, joined by table, row and column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel

from ...recipes import Comparison, Table
from .studio_runs import RunState

Tables = Sequence[Table | Comparison]


class ComparedRow(BaseModel):
    """One quantity: which row of the table it is in and which column, what each run has, and what was published."""

    labels: list[str]
    metric: str
    values: list[float | None]
    spreads: list[float | None]
    published: float | None


class ComparedTable(BaseModel):
    """What runs have in tables of one title; ``digits`` after the point are worth showing."""

    title: str
    labels: list[str]
    digits: int
    rows: list[ComparedRow]


class ComparedRuns(BaseModel):
    """Runs, and their tables joined; quantities are in the order in which runs have them."""

    runs: list[RunState]
    tables: list[ComparedTable]


def joined(tables: Sequence[Tables]) -> list[ComparedTable]:
    """Return the tables of several runs as one for each title, with a value for each run.

    Examples
    --------
    >>> from dovetail.recipes.tables import Cell, Quantity
    >>> small, large = (Comparison("Pairs", [Cell({"data": "mnist"}, "accuracy", Quantity(n))]) for n in (0.5, 0.75))
    >>> [(row.labels, row.metric, row.values) for row in joined([[small], [large], []])[0].rows]
    [(['mnist'], 'accuracy', [0.5, 0.75, None])]
    """
    found: dict[str, ComparedTable] = {}
    places: dict[tuple[object, ...], ComparedRow] = {}
    for run, mine in enumerate(tables):
        seen = Counter[
            tuple[object, ...]
        ]()  # rows that say the same of themselves are told apart by their order
        for table in mine:
            names, cells = _cells(table)
            shown = found.setdefault(
                table.title, ComparedTable(title=table.title, labels=names, digits=table.digits, rows=[])
            )
            for labels, metric, value, spread, published in cells:
                quantity = (table.title, labels, metric)
                seen[quantity] += 1
                place = (*quantity, seen[quantity])
                if place not in places:
                    nothing = [None] * len(tables)
                    places[place] = ComparedRow(
                        labels=list(labels),
                        metric=metric,
                        values=[*nothing],
                        spreads=[*nothing],
                        published=published,
                    )
                    shown.rows.append(places[place])
                row = places[place]
                row.values[run], row.spreads[run] = value, spread
    return [table for table in found.values() if table.rows]


_Cells = list[tuple[tuple[str, ...], str, float | None, float | None, float | None]]


def _cells(table: Table | Comparison) -> tuple[list[str], _Cells]:
    """Return the names of what a row is about, and for each quantity these labels, its column and its numbers."""
    if isinstance(table, Comparison):
        names = list(dict.fromkeys(str(name) for cell in table.cells for name in cell.labels))
        cells: _Cells = []
        for cell in table.cells:
            labels = tuple(str(cell.labels.get(name, "")) for name in names)
            ours, published = cell.ours, cell.published
            value = None if ours is None else ours.share
            spread = None if ours is None else ours.spread
            cells.append((labels, cell.metric, value, spread, None if published is None else published.share))
        return names, cells
    import pandas as pd

    frame = table.frame
    numeric = [name for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name])]
    texts = [name for name in frame.columns if name not in numeric]
    cells = []
    for _, row in frame.iterrows():
        labels = tuple(str(row[name]) for name in texts)
        for name in numeric:
            value = float(row[name])
            cells.append((labels, str(name), value if value == value else None, None, None))
    return [str(name) for name in texts], cells
