"""A memory that many threads ask at once: what all of them want is made once, not once for each."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from .recent import Recent, one

Value = TypeVar("Value")


class MadeOnce(Generic[Value]):
    """The values that were used last, by key; whoever asks for one that is being made waits for it.

    Parameters
    ----------
    limit : int
        How many to keep; or how much, where they are weighed.
    weigh : callable, optional
        Returns what a value counts. It must not change.

    Examples
    --------
    >>> numbers = MadeOnce[int](limit=2)
    >>> numbers.get("a", lambda: 1), numbers.get("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, limit: int, weigh: Callable[[Value], int] = one) -> None:
        self._values = Recent[Value](limit, weigh)
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}
        self._wanted: Counter[Hashable] = Counter()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made if it is not there; one that cannot be made is tried by each in turn."""
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
            self._wanted[key] += 1
        try:
            with making:  # not the lock of all: a large file must not hold up the others
                with self._lock:
                    found = self._values.find(key)
                if found is None:
                    found = make()
                    with self._lock:
                        self._values.keep(key, found)
                return found
        finally:
            with self._lock:
                self._wanted[key] -= 1
                if not self._wanted[key]:
                    del self._wanted[key], self._making[key]
