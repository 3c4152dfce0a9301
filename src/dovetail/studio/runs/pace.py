"""How long a run that goes on somewhere will still take, judged by what has been seen of it."""

from __future__ import annotations

import threading
from dataclasses import dataclass


@dataclass(frozen=True)
class Sight:
    """A look at a run that is going on.

    Attributes
    ----------
    began : float
        When the process that is at it began; seconds since 1970, as all times here.
    done, total : float
        How much work is done, and how much there is, in whatever measure.
    changed : float
        When ``done`` became what it is.
    """

    began: float
    done: float
    total: float
    changed: float


class Pace:
    """Remembers the first look at each run, so that later ones show how fast it is.

    Examples
    --------
    >>> pace = Pace()
    >>> pace.left("a", Sight(began=0, done=2, total=10, changed=0), now=1)
    >>> pace.left("a", Sight(began=0, done=4, total=10, changed=20), now=25)
    55.0
    """

    def __init__(self) -> None:
        self._first: dict[str, Sight] = {}
        self._lock = threading.Lock()

    def left(self, name: str, sight: Sight, now: float) -> float | None:
        """Return the seconds that a run will still take; nothing before any progress was seen."""
        with self._lock:
            first = self._first.get(name)
            if first is None or first.began != sight.began or first.done > sight.done:
                first = self._first[name] = sight
        # What was there at the first look was so since the process began, or since its last unit.
        seconds = sight.changed - max(first.changed, first.began)
        if sight.done <= first.done or seconds <= 0:
            return None
        rate = (sight.done - first.done) / seconds
        return max(0.0, (sight.total - sight.done) / rate - (now - sight.changed))

    def forget(self, name: str) -> None:
        """Forget a run that has ended."""
        with self._lock:
            self._first.pop(name, None)
