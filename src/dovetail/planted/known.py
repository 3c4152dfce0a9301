"""Known networks: networks of which we know the modules, because we put them there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from torch import Tensor, nn

from ..errors import ShapeError
from ..graph import NetworkGraph, network_graph
from ..graph.graph import Indices
from ..graph.network_graph import Residual


@dataclass(frozen=True, eq=False)
class KnownNetwork:
    """A network, and the module that each of its units belongs to.

    Attributes
    ----------
    network : nn.Module
        An ordinary module.
    samples : Tensor
        A batch of what it is for.
    modules : tuple of str
        What its modules are called.
    owners : mapping
        By layer, the module of each of its units, as an index into ``modules``; -1 for a unit of none. Layers that are
        not named have no modules. The units of a residual stream stand under the layer that makes them first.
    ends : tuple of str
        Layers among these that are inputs and outputs of the network: they are no question to a finder.
    wires : frozenset of (int, int)
        Which module feeds which.
    """

    network: nn.Module
    samples: Tensor
    modules: tuple[str, ...]
    owners: Mapping[str, Indices]
    ends: tuple[str, ...] = ()
    wires: frozenset[tuple[int, int]] = frozenset()

    def graph(self, residual: Residual = "nodes") -> NetworkGraph:
        """Return the network's graph, as `network_graph` makes it."""
        return network_graph(self.network, self.samples[:1], residual=residual)

    def labels(self, graph: NetworkGraph, *, ends: bool = True) -> Indices:
        """Return the module of each node of the network's graph; -1 for nodes of none.

        Parameters
        ----------
        graph : NetworkGraph
            What `graph` gave.
        ends : bool
            Give inputs and outputs their modules, too.

        Examples
        --------
        >>> from dovetail.planted import block_network
        >>> known = block_network("mlp", modules=2, units=3, seed=0)
        >>> labels = known.labels(known.graph(), ends=False)
        >>> np.bincount(labels + 1).tolist()  # inputs and outputs, then hidden units of each module
        [12, 9, 9]
        """
        found = np.full(len(graph), -1)
        for number, group in enumerate(graph.groups):
            if group.name in self.owners and (ends or group.name not in self.ends):
                members = graph.group_of == number
                found[members] = np.asarray(self.owners[group.name])[graph.unit_of[members]]
        return found


@dataclass(frozen=True)
class Agreement:
    """How well clusters agree with modules: 1 if they are the same, 0 by chance.

    Attributes
    ----------
    rand : float
        Adjusted Rand index: over pairs of units, whether they are together.
    information : float
        Adjusted mutual information: how much of the one tells the other.
    units : int
        Over how many units.
    """

    rand: float
    information: float
    units: int


def agreement_with(
    modules: ArrayLike, clusters: ArrayLike, among: NDArray[np.bool_] | Sequence[bool] | None = None
) -> Agreement:
    """Return how well the clusters that a finder found agree with modules that are known.

    Parameters
    ----------
    modules : int array
        The module of each unit; units of none (-1) do not count.
    clusters : int array
        The cluster of each unit. A unit that the finder has left out (-1) counts as a cluster of its own: it is told
        from all others, and so from those of its module.
    among : bool array, optional
        Count only these units, such as those that have connections.

    References
    ----------
    Hubert & Arabie, "Comparing partitions", 1985; Vinh, Epps, Bailey, "Information theoretic measures for clusterings
    comparison", 2010.

    Examples
    --------
    >>> agreement_with([0, 0, 1, 1, -1], [5, 5, 3, 3, 5])
    Agreement(rand=1.0, information=1.0, units=4)
    >>> agreement_with([0, 0, 1, 1], [0, 0, 0, 0]).rand
    0.0
    """
    known, found = np.asarray(modules), np.array(clusters)
    if known.shape != found.shape or known.ndim != 1:
        raise ShapeError(
            f"modules {known.shape} and clusters {found.shape} must be one number for each unit of a graph"
        )
    alone = found < 0
    found[alone] = found.max(initial=-1) + 1 + np.arange(np.count_nonzero(alone))
    counted = known >= 0
    if among is not None:
        counted &= np.asarray(among, dtype=bool)
    known, found = known[counted], found[counted]
    return Agreement(
        float(adjusted_rand_score(known, found)), float(adjusted_mutual_info_score(known, found)), len(known)
    )
