"""The two tests for the ends of the scale, which scores of clusterings cannot judge: all apart, or all together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from .hierarchy import SeparabilityTest
from .reach import Features


def separability_tests(
    pair: Iterable[Features], halves: Iterable[Features]
) -> tuple[SeparabilityTest, SeparabilityTest]:
    """Return the tests for all apart and for all together.

    Parameters
    ----------
    pair : two bool arrays
        Which later units the two units reach that are joined first.
    halves : two bool arrays
        Which later units are reached by any unit of the two clusters that are joined last.
    """
    return separability_test("separate", *pair), separability_test("single", *halves)


def separability_test(
    kind: Literal["separate", "single"], one: Features, other: Features
) -> SeparabilityTest:
    """Test whether two units, or two groups of units, share fewer later units than chance would give.

    Parameters
    ----------
    kind : {"separate", "single"}
        "separate" finds that they share fewer, "single" that they do not.
    one, other : bool array
        Which later units each reaches, ``[later units]``.

    Examples
    --------
    >>> import numpy as np
    >>> one, other = np.array([1, 1, 0, 0], dtype=bool), np.array([0, 0, 1, 1], dtype=bool)
    >>> separability_test("separate", one, other)
    SeparabilityTest(kind='separate', positive=True, shared=0.0, expected=1.0, score=1.1547005383792515)
    >>> separability_test("single", one, one).positive
    True
    """
    later, shared, product = len(one), int((one & other).sum()), int(one.sum()) * int(other.sum())
    # Chance is a binomial: `later` trials of probability product / later**2. Compared in whole numbers.
    surplus = shared * later - product
    spread = product * (later**2 - product)
    score = math.sqrt(later * surplus**2 / spread) if spread else abs(surplus) / later
    positive = surplus < 0 if kind == "separate" else surplus >= 0
    return SeparabilityTest(
        kind, positive, float(shared), product / later, score if positive else 0.0 - score
    )


def decide(separate: SeparabilityTest, single: SeparabilityTest, *, count: int, units: int) -> int:
    """Return the number of clusters after the tests: 1, all apart, or ``count`` where neither found anything.

    Examples
    --------
    >>> separate = SeparabilityTest("separate", True, shared=0, expected=1, score=1.2)
    >>> single = SeparabilityTest("single", True, shared=3, expected=2, score=0.9)
    >>> decide(separate, single, count=2, units=5)
    5
    """
    if single.positive and (not separate.positive or single.score >= separate.score):
        return 1
    return units if separate.positive else count
