"""How well any two of several specialists will merge, worked out bit by bit and remembered."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import combinations

from ...errors import MisfitError
from ...specialists import Specialist, compatibility
from ..recent import Recent

_MOST_KEPT = 20_000

Fit = float | str
"""The score of two specialists, or why they cannot be put together."""


@dataclass(frozen=True)
class FitTable:
    """Scores of pairs, by places in a list of specialists, as far as they are known; ``total`` pairs in all."""

    pairs: list[tuple[int, int, Fit]]
    total: int


class Compatibilities:
    """The scores of pairs that were compared."""

    def __init__(self) -> None:
        self._known = Recent[Fit](_MOST_KEPT)

    def table(self, specialists: list[Specialist], seconds: float) -> FitTable:
        """Return what is known of all pairs, after comparing more of them for about as long as is given."""
        until = time.perf_counter() + seconds
        places = list(combinations(range(len(specialists)), 2))
        pairs: list[tuple[int, int, Fit]] = []
        fresh = 0
        for a, b in places:
            first, second = sorted([specialists[a], specialists[b]], key=lambda part: part.digest)
            key = (first.digest, second.digest)
            fit = self._known.find(key)
            if fit is None:
                if fresh and time.perf_counter() > until:
                    continue
                fit = self._known.keep(key, _fit(first, second))
                fresh += 1
            pairs.append((a, b, fit))
        return FitTable(pairs, len(places))


def _fit(first: Specialist, second: Specialist) -> Fit:
    try:
        return compatibility(first, second).score
    except MisfitError as error:
        return str(error)
