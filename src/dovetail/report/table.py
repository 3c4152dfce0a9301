"""Long tables in groups, each with its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

LONG = 40
"""Rows from which on a table is better folded, or in groups."""
_ROWS_IN_A_GROUP = 4
"""On average, at least; with fewer, groups hide more than they tell."""


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
