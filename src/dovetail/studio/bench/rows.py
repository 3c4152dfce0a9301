"""Results for the samples of a split, computed from the first on and only as far as they are asked for."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor

_FIRST, _MOST = 32, 1000
"""How many samples are computed to learn how long one takes, and at most in one go (well inside fast memory)."""


class Rows:
    """A row for each sample; those up to ``done`` are known.

    Parameters
    ----------
    samples, width : int
        Shape of the whole.
    compute : callable
        Returns the rows from a first to before a last sample.
    tools : int
        Bytes that it takes to compute them; they are free again when all rows are known.

    Examples
    --------
    >>> rows = Rows(10, 1, lambda start, stop: torch.arange(start, stop)[:, None].float())
    >>> rows.up_to(4).sum(), rows.done
    (tensor(6.), 4)
    >>> rows.advance(seconds=1)
    >>> rows.complete
    True
    """

    def __init__(
        self, samples: int, width: int, compute: Callable[[int, int], Tensor], tools: int = 0
    ) -> None:
        self._values = torch.empty(samples, width)
        self._compute = compute
        self._tools = tools
        self.done = 0

    def nbytes(self) -> int:
        """Memory of all rows, known or not."""
        return self._values.nbytes

    def nbytes_begun(self) -> int:
        """Memory of all rows, and of what it takes to compute them."""
        return self._values.nbytes + self._tools

    @property
    def complete(self) -> bool:
        """Whether all rows are known."""
        return self.done == len(self._values)

    def up_to(self, stop: int) -> Tensor:
        """Return the rows before ``stop``; what is missing is computed."""
        if stop > self.done:
            with torch.no_grad():
                self._values[self.done : stop] = self._compute(self.done, stop)
            self.done = stop
            if self.complete:
                self._compute = _nothing_left  # and with it goes all that it needed
        return self._values[:stop]

    def advance(self, seconds: float) -> None:
        """Compute at least some more rows, for about as long as is given."""
        begun, step = time.perf_counter(), _FIRST
        while not self.complete:
            before = time.perf_counter()
            self.up_to(min(len(self._values), self.done + step))
            now = time.perf_counter()
            left = seconds - (now - begun)
            if left <= 0:
                return
            step = max(1, min(_MOST, int(step * left / max(now - before, 1e-6))))


def _nothing_left(start: int, stop: int) -> Tensor:
    raise AssertionError(f"rows {start} to {stop} were known")
