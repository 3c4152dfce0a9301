"""Rows of `maxent/specialists`: the numbers in them, as columns."""

from __future__ import annotations

from statistics import fmean, stdev

from ..line import Columns, Line, Rows
from ..tables import Quantity
from ..unit import Row

METRICS = ("accuracy", "entropy")


def sample(row: Row | None, what: str, metric: str) -> list[float]:
    """Return all values of a metric, over seeds and sets.

    Examples
    --------
    >>> sample({"pairs": {"entropy": [[2.0, None], [2.25, 2.5]]}}, "pairs", "entropy")
    [2.0, 2.25, 2.5]
    """
    if row is None or what not in row:
        return []
    return [value for values in row[what][metric] for value in values if value is not None]


def metric_columns(what: str) -> Columns:
    """Return mean and sd of accuracy and entropy over seeds and sets: of specialists ``"alone"``, or of ``"pairs"``."""

    def columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
        return {metric: Quantity.of_sample(sample(rows[0], what, metric)) for metric in METRICS}

    return columns


def steps(row: Row, metric: str) -> list[tuple[float, float]]:
    """Return mean and sd over seeds and orders after each step of a complete merge.

    Examples
    --------
    >>> steps({"merged": {"accuracy": [[1.0, 0.5], [1.0, 0.75]], "entropy": [[2.0, None], [2.0, None]]}}, "entropy")
    [(2.0, 0.0)]
    """
    found = []
    for runs in zip(*row["merged"][metric], strict=True):
        values = [value for value in runs if value is not None]
        if values:
            found.append((fmean(values), stdev(values) if len(values) > 1 else 0.0))
    return found


def steps_columns(metric: str) -> Columns:
    """Return means over seeds and orders, a column for each number of specialists merged."""

    def columns(line: Line, rows: Rows) -> dict[str, float]:
        assert rows[0] is not None  # such tables have no lines of what is not finished
        return {str(number): mean for number, (mean, _) in enumerate(steps(rows[0], metric), 1)}

    return columns
