"""From conditions to units, and from finished units back to their conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..recipe import Scale
from ..unit import Finished, Row, Unit
from .condition import Condition

Conditions = Callable[[Scale], Sequence[Condition]]
"""What a recipe, or a part of it, looks at on a scale."""


def units_of(conditions: Iterable[Condition]) -> list[Unit]:
    """Return the units of conditions, each once."""
    return list(dict.fromkeys(condition.unit for condition in conditions))


def with_rows(conditions: Conditions, finished: Sequence[Finished]) -> Iterator[tuple[Condition, Row | None]]:
    """Yield conditions with what came out of them: all of a scale of which at least one is finished."""
    rows = {done.unit: done.row for done in finished}
    for scale in ("paper", "smoke"):
        chosen = conditions(scale)
        if any(condition.unit in rows for condition in chosen):
            for condition in chosen:
                yield condition, rows.get(condition.unit)


def finished_rows(conditions: Conditions, finished: Sequence[Finished]) -> list[tuple[Condition, Row]]:
    """Return those conditions that are finished, with what came out of them."""
    return [(condition, row) for condition, row in with_rows(conditions, finished) if row is not None]
