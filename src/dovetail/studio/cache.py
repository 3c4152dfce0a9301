"""A memory with a limit, safe for threads: what was not used for longest goes first."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


def _one(_: Any) -> int:
    """Return what a value counts where all count the same."""
    return 1


class Cache(Generic[Value]):
    """The values that were used last, by key; whoever asks for a value that is being made waits for it.

    Parameters
    ----------
    limit : int
        How many to keep; or how much, where they are weighed.
    weigh : callable, optional
        Returns what a value counts. It must not change.
    least : int
        How many to keep in any case, however heavy.

    Examples
    --------
    >>> numbers = Cache[int](limit=2)
    >>> for key in "abac":
    ...     number = numbers.get(key, lambda: 0)
    >>> [numbers.find(key) for key in "abc"]
    [0, None, 0]
    """

    def __init__(self, limit: int, weigh: Callable[[Value], int] = _one, least: int = 1) -> None:
        self.limit = limit
        self._least = least
        self._weigh = weigh
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self.weight = 0
        self._lock = threading.RLock()
        self._making: dict[Hashable, threading.Lock] = {}
        self._wanted: Counter[Hashable] = Counter()

    def find(self, key: Hashable) -> Value | None:
        """Return the value of a key, or None when it is not there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def keep(self, key: Hashable, value: Value) -> Value:
        """Return a value that was just made, and remember it."""
        with self._lock:
            self.take_out(key)
            self.weight += self._weigh(value)
            self._values[key] = value
            while len(self._values) > self._least and self.weight > self.limit:
                self.weight -= self._weigh(self._values.popitem(last=False)[1])
        return value

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made if it is not there; one that cannot be made is tried by each in turn."""
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
            self._wanted[key] += 1
        try:
            with making:  # not the lock of all: a large file must not hold up the others
                found = self.find(key)
                return self.keep(key, make()) if found is None else found
        finally:
            with self._lock:
                self._wanted[key] -= 1
                if not self._wanted[key]:
                    del self._wanted[key], self._making[key]

    def take_out(self, key: Hashable) -> None:
        """Forget the value of a key, if it is there."""
        with self._lock:
            if key in self._values:
                self.weight -= self._weigh(self._values.pop(key))

    def items(self) -> list[tuple[Hashable, Value]]:
        """Return all keys and values, the one that was not used for longest first."""
        with self._lock:
            return list(self._values.items())
