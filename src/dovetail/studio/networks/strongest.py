"""Which edges of a network to look at: all, or the strongest of each layer, and no more than can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import SpecError
from ...sculpting.modules.reach import used_units
from .limits import MOST_EDGES, MOST_UNITS
from .network import Matrix, Network

Edges: TypeAlias = Sequence[NDArray[np.bool_]]

SHARES = (100.0, 50.0, 25.0, 10.0, 5.0, 2.0, 1.0)
"""Percentages of the edges of each layer, the strongest, that a view may be of."""
_HOPELESS = 10
"""How many times more edges than can be drawn are not worth a look at which of them are on paths."""


def chosen_edges(network: Network, percent: float | None) -> tuple[Edges, float]:
    """Return the edges to look at, and their percentage: as asked, or as many as can be drawn.

    Raises
    ------
    SpecError
        When these are still too many to draw.
    """
    all_edges = sum(int(matrix.sum()) for matrix in network.edges)
    units, count = sum(network.widths), all_edges
    for share in SHARES if percent is None else (percent,):
        if share / 100 * all_edges > _HOPELESS * MOST_EDGES:
            continue
        edges = strongest_edges(network.matrices, network.edges, share)
        units, count = _drawn(edges)
        if units <= MOST_UNITS and count <= MOST_EDGES:
            return edges, share
    raise SpecError(
        f"{units:,} units and {count:,} edges are too many to draw ({MOST_UNITS:,} and {MOST_EDGES:,} are the most), "
        f"of all edges or of the strongest {share:g} % alone"
    )


def _drawn(edges: Edges) -> tuple[int, int]:
    """Return how many units and edges there are on paths from inputs to outputs."""
    used = used_units(edges)
    count = sum(
        int(np.count_nonzero(matrix[np.ix_(after, before)]))
        for matrix, (before, after) in zip(edges, pairwise(used), strict=True)
    )
    return sum(map(len, used)), count


def strongest_edges(
    matrices: Sequence[Matrix], edges: Edges, percent: float
) -> tuple[NDArray[np.bool_], ...]:
    """Return the strongest edges of each layer, at least one.

    Examples
    --------
    >>> weights = np.array([[0.5, -2.0], [0.0, 1.0]], np.float32)
    >>> strongest_edges([weights], [weights != 0], 50)[0].tolist()
    [[False, True], [False, True]]
    """
    if percent >= 100:
        return tuple(edges)
    found = []
    for matrix, there in zip(matrices, edges, strict=True):
        strength = np.where(there, np.abs(matrix), -1.0).ravel()
        total = int(there.sum())
        count = min(total, max(1, round(percent / 100 * total)))
        kept = np.zeros(matrix.size, bool)
        if count:
            kept[np.argpartition(strength, -count)[-count:]] = True
        found.append(kept.reshape(matrix.shape))
    return tuple(found)
