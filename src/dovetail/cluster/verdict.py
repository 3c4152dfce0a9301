"""What an n-cut and its null say, in words."""

from __future__ import annotations

from .null import Null

_ENOUGH = 19
"""Shuffled copies with which a network that beats them all has a p-value of 5 %."""


def verdict(null: Null, k: int) -> str:
    """Return in words what the n-cut of k clusters says beside its null.

    Examples
    --------
    >>> import numpy as np
    >>> print(verdict(Null(1.0, np.array([2.0, 2.1])), 4))
    n-cut 1.000 with 4 clusters: a connection picked at a cluster leaves it with a chance of 25% (lower is more ...
    2 shuffled copies: 2.050 ± 0.050. The network is more clusterable than 2 of them (p = 0.333, z = -21.0): too few ...
    """
    first = (
        f"n-cut {null.ncut:.3f} with {k} clusters: a connection picked at a cluster leaves it with a chance "
        f"of {null.ncut / k:.0%} (lower is more clusterable)."
    )
    if not len(null.copies):
        return f"{first}\nNo shuffled copies: the number alone does not say whether that is more than chance."
    return (
        f"{first}\n{len(null.copies)} shuffled copies: {null.mean:.3f} ± {null.std:.3f}. The network is more "
        f"clusterable than {null.wins} of them (p = {null.p_value:.3g}, z = {null.z_score:.1f}): {_meaning(null)}"
    )


def _meaning(null: Null) -> str:
    if null.p_value <= 0.05:
        return "more than its weights would be by chance (p at most 0.05)."
    if null.wins == len(null.copies):
        return f"too few copies to tell, {_ENOUGH} at least are needed."
    if null.z_score > 2:
        return "less than its weights would be by chance (z above 2)."
    return "no more than chance would give (p above 0.05)."
