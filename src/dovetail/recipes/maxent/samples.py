"""Numbers out of the rows of `maxent/specialists`."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean, stdev

from ..published_values import PublishedFile
from ..tables import Cell, Quantity, Table
from ..unit import Row
from .condition import Condition

METRICS = {"accuracy": "rewarded_accuracy", "entropy": "entropy"}
"""What a row calls a metric, and what the published tables call it."""


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


def metric_cells(
    condition: Condition, row: Row | None, what: str, file: PublishedFile, labels: Iterable[str]
) -> list[Cell]:
    """Return mean and sd of accuracy and entropy over seeds and sets, beside what a table of the paper printed."""
    shown = {name: condition.labels[name] for name in labels}
    return [
        Cell(shown, metric, Quantity.of_sample(sample(row, what, metric)), condition.published(file, printed))
        for metric, printed in METRICS.items()
    ]


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


def steps_table(
    title: str, rows: Iterable[tuple[dict[str, object], Row]], metric: str, note: str = ""
) -> Table:
    """Return a table of means over seeds and orders, with a column for each number of specialists merged."""
    import pandas as pd

    lines = [
        labels | {str(number): mean for number, (mean, _) in enumerate(steps(row, metric), 1)}
        for labels, row in rows
    ]
    return Table(title, pd.DataFrame(lines), note)
