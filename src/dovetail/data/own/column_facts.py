"""Facts about the columns of a table: what they were taken for, and what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..content import ColumnFacts
from ..preparation import Preparation, Table
from ..preparation.column import Column, Date, Number, Truth
from ..preparation.table import as_frame
from ..preparation.values import days, distinct, numbers, spelled, truths


def column_facts(frame: pd.DataFrame, preparation: Preparation | None) -> tuple[ColumnFacts, ...]:
    """Return the facts about each column that a table was prepared by; none for data that is no table.

    Examples
    --------
    >>> frame = pd.DataFrame({"width": [1.0, None, 3.0], "colour": ["red", "blue", " "]})
    >>> for facts in column_facts(frame, Table.fitted(frame)):
    ...     print(*facts)
    width number 1
    colour levels 1
    """
    if not isinstance(preparation, Table):
        return ()
    frame = as_frame(frame)
    return tuple(
        ColumnFacts(column.name, column.kind, _missing(column, frame[column.name]))
        for column in preparation.columns
        if column.name in frame
    )


def _missing(column: Column, values: pd.Series[Any]) -> int:
    if isinstance(column, Number):
        return int(np.isnan(numbers(values, column.blanks)).sum())
    if isinstance(column, Date):
        return int(np.isnan(days(values, column.blanks)).sum())
    if isinstance(column, Truth):
        return int(np.isnan(truths(values)).sum())
    codes, found = distinct(values)
    empty = np.array([*(not spelled(value) for value in found), True])  # the last for -1, which is missing
    return int(empty[codes].sum())
