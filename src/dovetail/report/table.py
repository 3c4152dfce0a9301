"""A data frame as an HTML table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from ..display import format_value

if TYPE_CHECKING:
    import pandas as pd

Marks = Mapping[tuple[int, int], str]
"""Classes of cells, by row and column from 0."""

LONG = 40
"""Rows from which on a table is better folded, or in groups."""
_ROWS_IN_A_GROUP = 4
"""On average, at least; with fewer, groups hide more than they tell."""


def table_html(table: pd.DataFrame, digits: int = 4, marks: Marks | None = None) -> str:
    """Return a table with numbers to the right and, where the index has names, these in front.

    Parameters
    ----------
    table : DataFrame
        What to show.
    digits : int
        Decimals of numbers that are not whole.
    marks : mapping of (int, int) to str, optional
        Classes for single cells; numbers that come as text can be put to the right so.

    Examples
    --------
    >>> import pandas as pd
    >>> print(table_html(pd.DataFrame({"part": ["<3>"], "entropy": [2.30259]}), digits=2))
    <table>
    <thead>
    <tr><th scope="col">part</th><th scope="col" class="number">entropy</th></tr>
    </thead>
    <tbody>
    <tr><td>&lt;3&gt;</td><td class="number">2.30</td></tr>
    </tbody>
    </table>
    """
    import pandas as pd

    named = table.index.name is not None or not table.index.equals(pd.RangeIndex(len(table)))
    marks = marks or {}
    kinds = [
        "number" if pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) else ""
        for kind in table.dtypes
    ]
    # A heading stands where the numbers below it do.
    heads = [
        kind or ("number" if "number" in marks.get((0, place), "") else "")
        for place, kind in enumerate(kinds)
    ]
    head = [f'<th scope="col">{_label(list(table.index.names))}</th>'] if named else []
    head += [
        f'<th scope="col"{_classed(kind)}>{_label(name)}</th>'
        for name, kind in zip(table.columns, heads, strict=True)
    ]
    rows = []
    for row, (name, values) in enumerate(
        zip(table.index, table.itertuples(index=False, name=None), strict=True)
    ):
        cells = [f'<th scope="row">{_label(name)}</th>'] if named else []
        cells += [
            f"<td{_classed(marks.get((row, place), kind))}>{escape(format_value(value, digits))}</td>"
            for place, (value, kind) in enumerate(zip(values, kinds, strict=True))
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(rows)
    return f"<table>\n<thead>\n<tr>{''.join(head)}</tr>\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def row_groups(table: pd.DataFrame, labels: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Give a long table in groups, each with its name: by as few of the first labels as it takes.

    A short table is given as it is, and so is one whose groups would be of a few rows each.

    Parameters
    ----------
    table : DataFrame
        What to show.
    labels : sequence of str
        The columns that say what a row is about, the most general first. Those that name the groups go.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"data": ["a"] * 30 + ["b"] * 30, "seed": range(60), "accuracy": 0.5})
    >>> [(name, rows.shape) for name, rows in row_groups(table, ["data", "seed"])]
    [('a', (30, 2)), ('b', (30, 2))]
    """
    for count in range(1, len(labels)) if len(table) > LONG else ():
        by = list(labels[:count])
        groups = list(table.groupby(by, sort=False, dropna=False))
        if len(groups) * _ROWS_IN_A_GROUP > len(table):
            break
        if max(len(rows) for _, rows in groups) <= LONG:
            for key, rows in groups:
                yield ", ".join(map(str, key)), rows.drop(columns=by).reset_index(drop=True)
            return
    yield "", table


def _classed(name: str) -> str:
    return f' class="{name}"' if name else ""


def _label(name: object) -> str:
    """Return the name of a row or column; several levels of names become one."""
    levels = name if isinstance(name, tuple | list) else [name]
    return escape(", ".join(str(level) for level in levels if level is not None))
