"""The modules found in a network, how they feed one another, and how they were found."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Unit = tuple[int, int]
"""A unit of a network: (layer, place in it), both from 0; layer 0 is the inputs."""


@dataclass(frozen=True)
class LayerClustering:
    """How the units of one layer were put into clusters.

    Attributes
    ----------
    metric : dict of int to float
        The score of every number of clusters that was tried.
    chosen : int
        The number of clusters in the end.
    best : int or None
        The number with the best score, before the separability tests; None when none was tried.
    tests : tuple of SeparabilityTest
        The tests that were run, and what they said; empty when none was.
    tied : bool
        Whether distances were equal where it mattered, so that the numbering of units may have decided.
    """

    metric: dict[int, float]
    chosen: int
    best: int | None = None
    tests: tuple[SeparabilityTest, ...] = ()
    tied: bool = False


@dataclass(frozen=True)
class SeparabilityTest:
    """One of the two tests for the ends of the scale: every unit apart, or all together.

    Attributes
    ----------
    kind : {"separate", "single"}
        What it tests for.
    positive : bool
        Whether it found that.
    shared, expected : float
        Later units that the two (groups of) units both reach, and how many chance would give.
    score : float
        By how much, in standard deviations of chance (not divided where that is 0).
    """

    kind: str
    positive: bool
    shared: float
    expected: float
    score: float


@dataclass(frozen=True)
class Hierarchy:
    """Clusters of units layer by layer, and the modules they make across layers.

    Attributes
    ----------
    connections : tuple of array
        Which edges there are between one layer and the next, ``[units, units before]``, bool.
    layers : tuple of tuple of frozenset of int
        For each layer from the inputs to the outputs its clusters, as sets of unit numbers.
    modules : tuple of frozenset of (int, int)
        The modules, as sets of (layer, unit), ordered by their first unit.
    unused : frozenset of (int, int)
        Units without a path from an input or to an output; they are in no cluster and no module.
    clusterings : tuple of LayerClustering
        How each layer was clustered.
    """

    connections: tuple[NDArray[np.bool_], ...]
    layers: tuple[tuple[frozenset[int], ...], ...]
    modules: tuple[frozenset[Unit], ...]
    unused: frozenset[Unit] = frozenset()
    clusterings: tuple[LayerClustering, ...] = field(default=(), repr=False)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Units of each layer, inputs first, unused ones included."""
        return (self.connections[0].shape[1], *(len(edges) for edges in self.connections))
