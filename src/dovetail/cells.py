"""A value as a reader wants to see it in a table."""

from __future__ import annotations

import numbers
from typing import Any

from .printable import printable


def cell_text(value: Any, digits: int) -> str:
    """Return a value as text to print: a dash for what is missing, yes and no, numbers with some digits.

    Examples
    --------
    >>> [cell_text(value, 2) for value in (None, True, 3, 0.123, 1e-9)]
    ['–', 'yes', '3', '0.12', '1.0e-09']
    """
    import pandas as pd

    if pd.api.types.is_scalar(value) and pd.isna(value):
        return "–"
    if pd.api.types.is_bool(value):
        return "yes" if value else "no"
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        number = float(value)
        return f"{number:.1e}" if 0 < abs(number) < 10**-digits else f"{number:.{digits}f}"
    return printable(str(value))
