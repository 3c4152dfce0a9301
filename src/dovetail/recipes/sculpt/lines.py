"""Rows of tables: units whose networks are counted together, and what of them is finished."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from ..published_values import published
from ..recipe import Scale
from ..tables import Cell, Quantity
from ..unit import Finished, Row, Unit


@dataclass(frozen=True)
class Line:
    """A row of a table.

    Attributes
    ----------
    scale : {"smoke", "paper"}
        Whether this is in small; then nothing was published.
    labels : mapping
        What stands in front of the row.
    units : sequence of Unit
        Whose networks are counted together: the widths of an architecture, and more.
    """

    scale: Scale
    labels: Mapping[str, object]
    units: Sequence[Unit]

    def printed(self, **labels: object) -> Quantity | None:
        """Return what a figure of the paper shows for this row."""
        return published("sculpting_success", **labels) if self.scale == "paper" else None

    def cell(self, metric: str, ours: Quantity | None, printed: Quantity | None = None) -> Cell:
        """Return a cell of this row."""
        return Cell(self.labels, metric, ours, printed)


Lines = Callable[[Scale], Sequence[Line]]


def units_of(lines: Iterable[Line]) -> list[Unit]:
    """Return the units of some rows, each once."""
    return list(dict.fromkeys(unit for line in lines for unit in line.units))


def with_rows(lines: Lines, finished: Sequence[Finished]) -> Iterator[tuple[Line, list[Row]]]:
    """Yield rows of a table with what came out of their units: all rows of a scale of which anything is finished."""
    found = {done.unit: done.row for done in finished}
    for scale in get_args(Scale):
        of_scale = lines(scale)
        if any(unit in found for line in of_scale for unit in line.units):
            for line in of_scale:
                yield line, [found[unit] for unit in line.units if unit in found]


def with_trials(lines: Lines, finished: Sequence[Finished]) -> Iterator[tuple[Line, list[Row]]]:
    """Yield rows of a table with the networks of their units, as `with_rows` does."""
    for line, rows in with_rows(lines, finished):
        yield line, [trial for row in rows for trial in row["trials"]]


def values(trials: Sequence[Row], *path: str) -> list[Any]:
    """Return one thing of every network.

    Examples
    --------
    >>> values([{"full": {"whole": True}}, {"full": {"whole": False}}], "full", "whole")
    [True, False]
    """
    found: list[Any] = list(trials)
    for name in path:
        found = [entry[name] for entry in found]
    return found


def count(trials: Sequence[Row], *path: str) -> Quantity | None:
    """Return of how many networks something is true.

    Examples
    --------
    >>> str(count([{"full": {"whole": True}}, {"full": {"whole": False}}], "full", "whole"))
    '1/2'
    """
    return Quantity(sum(map(bool, values(trials, *path))), of=len(trials)) if trials else None


def sample(trials: Sequence[Row], *path: str) -> Quantity | None:
    """Return mean and standard deviation of a number over networks."""
    return Quantity.of_sample(values(trials, *path))
