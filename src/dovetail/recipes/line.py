"""Lines of tables: what stands in front of a line, whose results it sums up, and what is published for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .tables import Cell, Comparison, Quantity, Table
from .unit import Finished, Row, Unit


@dataclass(frozen=True)
class Line:
    """A line of a table.

    Attributes
    ----------
    labels : mapping
        What stands in front, such as ``{"data": "mnist", "net": "shallow"}``; lines with equal labels become one.
    units : sequence of Unit
        Whose results it sums up.
    published : mapping
        By column, what the paper has; empty where nothing was published, as for anything at smoke scale.
    condition : object, optional
        What else columns and charts must know of it.
    """

    labels: Mapping[str, Any]
    units: Sequence[Unit]
    published: Mapping[str, Quantity | None] = field(default_factory=dict)
    condition: Any = None


Rows = Sequence[Row | None]
"""What came out of each unit of a line; None for those that are not finished."""

Columns = Callable[[Line, Rows], Mapping[str, Any]]
"""Takes a line and its rows, and returns its values by column."""


@dataclass(frozen=True)
class LineTable:
    """A table before there are results: its lines, and how a line is summed up.

    Attributes
    ----------
    title, note : str
        Of the table; the note is markdown.
    lines : sequence of Line
        In their order.
    columns : callable
        See `Columns`: a `Quantity` for each column, or None; plain numbers where ``numbers`` is set.
    digits : int
        Digits after the point.
    all_lines : bool
        Whether lines are shown of which nothing is finished, with dashes.
    numbers : bool
        Whether this is a table of numbers, with nothing published beside them.
    """

    title: str
    lines: Sequence[Line]
    columns: Columns
    note: str = ""
    digits: int = 3
    all_lines: bool = True
    numbers: bool = False


class FilledTable:
    """A table with the results that there are.

    Parameters
    ----------
    table : LineTable
        What it is to show.
    finished : mapping
        Finished units.

    Attributes
    ----------
    lines : list of (Line, Rows)
        The lines that are shown, with what came out of their units.
    begun : bool
        Whether anything of it is finished.
    """

    def __init__(self, table: LineTable, finished: Mapping[Unit, Finished]) -> None:
        self.title = table.title
        self._table = table
        self._older = {unit for unit, one in finished.items() if one.is_older}
        rows = {unit: one.row for unit, one in finished.items()}
        filled = [(line, [rows.get(unit) for unit in line.units]) for line in table.lines]
        self.begun = any(row is not None for _, of_line in filled for row in of_line)
        self.lines: list[tuple[Line, Rows]] = [
            (line, of_line)
            for line, of_line in filled
            if table.all_lines or any(row is not None for row in of_line)
        ]

    def cells(self, metrics: Collection[str] = ()) -> list[Cell]:
        """Return all cells, or those of some columns."""
        return [
            Cell(
                line.labels,
                name,
                value,
                line.published.get(name),
                older=not self._older.isdisjoint(line.units),
            )
            for line, rows in self.lines
            for name, value in self._table.columns(line, rows).items()
            if not metrics or name in metrics
        ]

    def shown(self) -> Table | Comparison:
        """Return what a reader gets to see."""
        about = {"note": self._table.note, "digits": self._table.digits}
        if not self._table.numbers:
            return Comparison(self.title, self.cells(), **about)  # type: ignore[arg-type]
        import pandas as pd

        lines = [{**line.labels, **self._table.columns(line, rows)} for line, rows in self.lines]
        return Table(self.title, pd.DataFrame(lines), **about)  # type: ignore[arg-type]


def units_of(lines: Iterable[Line]) -> list[Unit]:
    """Return the units of some lines, each once."""
    return list(dict.fromkeys(unit for line in lines for unit in line.units))
