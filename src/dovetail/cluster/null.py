"""An n-cut beside those of shuffled copies: how far from chance it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..graph.graph import Floats

_ROUNDING = 1e-9
"""N-cuts that differ by less, relative to their size, are the same."""


@dataclass(frozen=True, eq=False)
class Null:
    """The n-cut of a network and those of shuffled copies; also while there are only some of the copies.

    Attributes
    ----------
    ncut : float
        Of the network itself.
    copies : float array
        Of the shuffled copies.

    Examples
    --------
    >>> null = Null(1.0, np.array([2.0, 4.0, 3.0]))
    >>> null.wins, null.p_value, null.mean
    (3, 0.25, 3.0)
    """

    ncut: float
    copies: Floats

    @property
    def mean(self) -> float:
        """Mean n-cut of the copies; not a number without any."""
        return float(self.copies.mean()) if len(self.copies) else float("nan")

    @property
    def std(self) -> float:
        """Standard deviation of the copies' n-cuts (of the population)."""
        return float(self.copies.std()) if len(self.copies) else float("nan")

    @property
    def wins(self) -> int:
        """How many copies are less clusterable than the network; a tie is no win."""
        return int((self.copies > self.ncut + _ROUNDING * max(1.0, self.ncut)).sum())

    @property
    def p_value(self) -> float:
        """Share of copies that are as clusterable as the network, itself counted among them; ties count against it."""
        if not len(self.copies):
            return float("nan")
        return float((len(self.copies) - self.wins + 1) / (len(self.copies) + 1))

    @property
    def z_score(self) -> float:
        """Standard deviations of the copies that the network's n-cut is above their mean; below: negative."""
        difference = self.ncut - self.mean
        if self.std < _ROUNDING * max(1.0, self.ncut):  # copies that differ by rounding only
            return 0.0 if abs(difference) < 1e-6 else float(np.copysign(np.inf, difference))
        return difference / self.std

    @property
    def bins(self) -> int:
        """How many bars a histogram of the copies has room and reason for."""
        return min(30, max(5, math.ceil(2 * math.sqrt(len(self.copies)))))
