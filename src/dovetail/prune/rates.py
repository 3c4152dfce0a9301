"""Pruning rates, how much to prune and when: a constant rate over rounds, or a sparsity that grows with the step."""

from __future__ import annotations

from ..errors import SpecError
from .checks import check_share


def rate_per_round(sparsity: float, rounds: int) -> float:
    """Return the share of the remaining weights to prune in each round, 1 - (1 - sparsity)^(1/rounds).

    Examples
    --------
    >>> round(rate_per_round(0.99, rounds=2), 6)
    0.9
    """
    check_share("sparsity", sparsity)
    if rounds < 1:
        raise SpecError(f"pruning takes at least one round; got rounds={rounds}")
    return float(1 - (1 - sparsity) ** (1 / rounds))


def cubic_sparsity(step: float, start: float, end: float, initial: float = 0.5, final: float = 0.9) -> float:
    """Return the sparsity at a training step, rising from `initial` to `final` along a cubic.

    The rise is steep at first, while there is much to remove, and flat at the end (Zhu & Gupta, 2017).
    Before `start` it is `initial`, after `end` it is `final`.

    Examples
    --------
    >>> [round(cubic_sparsity(step, start=100, end=200), 3) for step in (0, 100, 150, 200, 300)]
    [0.5, 0.5, 0.85, 0.9, 0.9]
    """
    check_share("initial sparsity", initial)
    check_share("final sparsity", final)
    if not start < end:
        raise SpecError(f"pruning must end after it starts; got start={start}, end={end}")
    if step >= end:
        return final
    left = 1 - max(0.0, (step - start) / (end - start))
    return final + (initial - final) * left**3
