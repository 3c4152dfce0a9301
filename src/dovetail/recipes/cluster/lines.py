"""Lines of a table: which units they are about, and where the paper printed them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..unit import Finished, Row, Unit


@dataclass(frozen=True)
class Line:
    """Networks of one condition, before and after pruning.

    Attributes
    ----------
    units : tuple of Unit
        The units that train them; units that differ in their seeds only make one line.
    labels : mapping
        What stands in front of the line, such as ``{"data": "mnist", "condition": "dropout"}``.
    printed : mapping
        Where the paper has it: ``table``, ``network``, ``dataset`` and ``regularisation`` of
        ``clusterability_tables``. Empty where nothing was published, as for anything in small.
    """

    units: tuple[Unit, ...]
    labels: Mapping[str, str]
    printed: Mapping[str, str] = field(default_factory=dict)


def units_of(lines: Iterable[Line]) -> list[Unit]:
    """Return all units of some lines, each once."""
    return list(dict.fromkeys(unit for line in lines for unit in line.units))


def row_of(line: Line, finished: Sequence[Finished]) -> Row | None:
    """Return what came out of a line's units, joined, or nothing if none is finished."""
    rows = {one.unit: one.row for one in finished}
    found = [rows[unit] for unit in line.units if unit in rows]
    return _joined(found) if found else None


def _joined(parts: Sequence[Any]) -> Any:
    """Join what several units gave: lists of a value for each network one after another, all else key by key."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, Mapping):
        return {name: _joined([part[name] for part in parts]) for name in first}
    if first and isinstance(first[0], Mapping):  # one entry for each measure
        return [_joined(together) for together in zip(*parts, strict=True)]
    return [value for part in parts for value in part]
