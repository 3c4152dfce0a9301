"""Missing labels: samples without a class are left out, and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...errors import DataError


def labelled(
    labels: Sequence[Any] | pd.Series[Any], name: str, what: str = "samples"
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the places of labels that are there, and a note if some are not.

    Parameters
    ----------
    labels : sequence
        Labels; None, NaN and texts of white space are missing.
    name, what : str
        What messages call the data, and its samples.

    Raises
    ------
    DataError
        When all are missing.

    Examples
    --------
    >>> labelled(["cat", None, " ", "dog"], "pets")
    (array([0, 3]), ('2 of 4 samples have no class and are left out',))
    """
    column = labels if isinstance(labels, pd.Series) else pd.Series(list(labels), dtype=object)
    there = column.notna().to_numpy()
    if not pd.api.types.is_numeric_dtype(column.dtype):
        blank = (isinstance(label, str | bytes) and not label.strip() for label in column)
        there = there & ~np.fromiter(blank, bool, len(column))
    missing = len(there) - int(there.sum())
    if not missing:
        return np.arange(len(there)), ()
    if missing == len(there):
        raise DataError(f"{name}: none of {missing:,} {what} has a class; is it the right column or field?")
    return np.flatnonzero(there), (f"{missing:,} of {len(there):,} {what} have no class and are left out",)
