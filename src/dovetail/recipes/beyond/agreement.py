"""How well clusters agree with a membership of units, and how well they would by chance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Agreement:
    """The adjusted Rand index of clusters and a membership: 1 if they are the same, about 0 by chance.

    Attributes
    ----------
    all : float
        Over all units.
    layers : list of float
        Within each layer.
    permuted : float
        Mean over memberships in which the units of a layer changed places.
    p_value : float
        Share of those that agree as well, the real one counted among them.
    """

    all: float
    layers: list[float]
    permuted: float
    p_value: float


def agreement(clusters: Indices, members: Indices, layer: Indices, *, permutations: int) -> Agreement:
    """Compare the clusters of units with their membership.

    Parameters
    ----------
    clusters, members : int array
        Of each unit; units with a negative one are left out.
    layer : int array
        The layer of each unit; chance puts no unit into another layer.
    permutations : int
        How many memberships to draw.

    Examples
    --------
    >>> thirds = np.repeat([0, 1, 2], 10)
    >>> found = agreement(thirds, 2 - thirds, np.zeros(30, int), permutations=99)
    >>> found.all, found.p_value, abs(found.permuted) < 0.1
    (1.0, 0.01, True)
    """
    known = (clusters >= 0) & (members >= 0)
    clusters, members, layer = clusters[known], members[known], layer[known]
    places = [np.flatnonzero(layer == number) for number in np.unique(layer)]
    whole = rand(clusters, members)
    drawn = [rand(clusters, other) for other in _permuted(members, places, permutations)]
    return Agreement(
        all=whole,
        layers=[rand(clusters[place], members[place]) for place in places],
        permuted=float(np.mean(drawn)),
        p_value=(1 + sum(value >= whole for value in drawn)) / (1 + permutations),
    )


def rand(clusters: Indices, members: Indices) -> float:
    """Return the adjusted Rand index over the units that have both a cluster and a membership."""
    known = (clusters >= 0) & (members >= 0)
    return float(adjusted_rand_score(members[known], clusters[known]))


def _permuted(members: Indices, places: list[Indices], count: int) -> Iterable[Indices]:
    rng = np.random.default_rng(0)
    for _ in range(count):
        other = members.copy()
        for place in places:
            other[place] = rng.permutation(members[place])
        yield other
