"""What is drawn of a network's groups: all edges, or the strongest of each layer, and no more than can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...errors import SpecError
from ...sculpting import Hierarchy
from ...sculpting.modules.reach import used_units
from .grouping import Groups
from .limits import MOST_EDGES, MOST_UNITS
from .network import Edges, Matrix, Network

SHARES = (100.0, 50.0, 25.0, 10.0, 5.0, 2.0, 1.0)
"""Percentages of the edges of each layer, the strongest, that a drawing may show."""
_HOPELESS = 10
"""How many times more edges than can be drawn are not worth a look at which of them are on paths."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """The groups of a network as they are drawn.

    Attributes
    ----------
    hierarchy : Hierarchy
        The edges that are drawn, and of each group the units on their paths.
    numbers : list of int
        Which groups these are: those without a unit on a path are not drawn.
    strongest : float
        Percentage of the edges of each layer that are drawn.
    """

    hierarchy: Hierarchy
    numbers: list[int]
    strongest: float


def draw_groups(network: Network, groups: Groups, strongest: float | None = None) -> Drawn:
    """Return the groups of a network as they are drawn; the groups themselves do not change by it.

    Parameters
    ----------
    network : Network
        A network with layers in order.
    groups : Groups
        Its units in groups.
    strongest : float, optional
        Percentage of the edges of each layer to draw; by default as many as can be drawn.

    Raises
    ------
    SpecError
        When these are too many to draw.
    """
    edges, share = _chosen_edges(network, strongest)
    used = {(layer, unit) for layer, units in enumerate(used_units(edges)) for unit in units.tolist()}
    everything = {(layer, unit) for layer, width in enumerate(network.widths) for unit in range(width)}
    shown = {number: units & used for number, units in enumerate(groups.modules) if units & used}
    hierarchy = Hierarchy(tuple(edges), (), tuple(shown.values()), frozenset(everything - used))
    return Drawn(hierarchy, list(shown), share)


def _chosen_edges(network: Network, percent: float | None) -> tuple[Edges, float]:
    """Return the edges to draw, and their percentage: as asked, or as many as can be drawn."""
    all_edges = sum(int(matrix.sum()) for matrix in network.edges)
    units, count = sum(network.widths), all_edges
    for share in SHARES if percent is None else (percent,):
        if share / 100 * all_edges > _HOPELESS * MOST_EDGES:
            continue
        edges = strongest_edges(network.matrices, network.edges, share)
        units, count = _on_paths(edges)
        if units <= MOST_UNITS and count <= MOST_EDGES:
            return edges, share
    raise SpecError(
        f"{units:,} units and {count:,} edges are too many to draw ({MOST_UNITS:,} and {MOST_EDGES:,} are the most), "
        f"of all edges or of the strongest {share:g} % alone"
    )


def _on_paths(edges: Edges) -> tuple[int, int]:
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
