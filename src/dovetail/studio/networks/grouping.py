"""The units of a network in groups: the modules that its edges show, or clusters of units with strong connections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...cluster import network_graph
from ...cluster.partition.spectral import spectral_clusters
from ...errors import SpecError
from ...sculpting import Hierarchy, detect_modules
from ...sculpting.modules.hierarchy import Unit
from ...sculpting.modules.reach import used_units
from .network import Network
from .strongest import Edges, chosen_edges

Grouping = Literal["modules", "clusters", "specialists"]

_MEANINGLESS_DENSITY = 0.5
_STARTS = 5


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a network, as a hierarchy that can be drawn.

    Attributes
    ----------
    hierarchy : Hierarchy
        Groups, and the edges that were looked at.
    grouping : {"modules", "clusters", "specialists"}
        What the groups are.
    names : list of str
        What the groups are called.
    strongest : float
        Percentage of the edges of each layer that were looked at.
    note : str
        What to know before one believes them.
    """

    hierarchy: Hierarchy
    grouping: Grouping
    names: Sequence[str]
    strongest: float
    note: str


def group_units(
    network: Network, grouping: Grouping | None = None, clusters: int = 4, strongest: float | None = None
) -> Groups:
    """Return a network's units in groups.

    Parameters
    ----------
    network : Network
        A network with layers in order.
    grouping : {"modules", "clusters", "specialists"}, optional
        Which groups; by default specialists where each has units of its own, else modules, but clusters where more than
        half of all edges are there.
    clusters : int
        How many clusters.
    strongest : float, optional
        Percentage of the edges of each layer to look at; by default as many as can be drawn.

    Raises
    ------
    SpecError
        When there are no layers in order, or too many units and edges to draw.
    """
    if not network.edges:
        raise SpecError(network.doubt or "there are no layers to look at")
    edges, share = chosen_edges(network, strongest)
    if grouping is None:
        grouping = _usual(network)
    notes = (
        [f"Only the strongest {share:g} % of the edges of each layer are looked at."] if share < 100 else []
    )
    if grouping == "specialists":
        hierarchy = _owned(network, edges)
        notes.append("Each group is what one specialist has for itself; the inputs are for all.")
    elif grouping == "clusters":
        hierarchy = _clustered(network, edges, clusters)
        notes.append(
            f"Clusters of units that strong weights connect (spectral, k = {clusters}). Whether there is more to them "
            "than chance only an audit can tell."
        )
    else:
        given = network.hierarchy if share == 100 else None
        hierarchy = given or detect_modules(list(edges))
        if (density := _density(edges)) > _MEANINGLESS_DENSITY:
            notes.append(
                f"{density:.0%} of all edges are there, so modules cannot be read off them: look at fewer edges, or "
                "at clusters."
            )
    letter = "C" if grouping == "clusters" else "M"
    names = [f"{letter}{number + 1}" for number in range(len(hierarchy.modules))]
    return Groups(
        hierarchy,
        grouping,
        list(network.owners) if grouping == "specialists" else names,
        share,
        " ".join(notes),
    )


def groupings_of(network: Network) -> list[Grouping]:
    """Return the ways in which a network's units can be grouped."""
    return ["modules", "clusters", "specialists"] if network.owners else ["modules", "clusters"]


def _usual(network: Network) -> Grouping:
    if network.owners:
        return "specialists"
    # A sculpture comes with its modules, however many edges it was left.
    dense = network.hierarchy is None and _density(network.edges) > _MEANINGLESS_DENSITY
    return "clusters" if dense else "modules"


def _density(edges: Edges) -> float:
    return sum(int(matrix.sum()) for matrix in edges) / sum(matrix.size for matrix in edges)


def _clustered(network: Network, edges: Edges, clusters: int) -> Hierarchy:
    """Return a hierarchy whose modules are spectral clusters of the units on paths."""
    sizes = network.widths
    used = used_units(edges)
    if clusters >= sum(map(len, used)):
        raise SpecError(
            f"{sum(map(len, used))} units are on paths from inputs to outputs, too few for {clusters} clusters; ask "
            "for fewer, or look at more edges"
        )
    weights = [
        np.where(there, np.abs(matrix), 0) for matrix, there in zip(network.matrices, edges, strict=True)
    ]
    labels = np.split(
        spectral_clusters(network_graph(weights), clusters, starts=_STARTS), np.cumsum(sizes)[:-1]
    )
    groups: dict[int, set[Unit]] = {}
    for unit in _units(used):
        groups.setdefault(int(labels[unit[0]][unit[1]]), set()).add(unit)
    return _hierarchy(edges, tuple(sorted(map(frozenset, groups.values()), key=min)), used)


def _owned(network: Network, edges: Edges) -> Hierarchy:
    """Return a hierarchy whose modules are the units of each specialist that are used."""
    if not network.owners:
        raise SpecError("there are no specialists with units of their own here; look at modules or clusters")
    used = used_units(edges)
    there = _units(used)
    return _hierarchy(edges, tuple(units & there for units in network.owners.values()), used)


def _hierarchy(
    edges: Edges, modules: tuple[frozenset[Unit], ...], used: Sequence[NDArray[np.intp]]
) -> Hierarchy:
    sizes = [edges[0].shape[1], *map(len, edges)]
    everything = {(layer, unit) for layer, size in enumerate(sizes) for unit in range(size)}
    return Hierarchy(tuple(edges), (), modules, frozenset(everything - _units(used)))


def _units(used: Sequence[NDArray[np.intp]]) -> set[Unit]:
    return {(layer, unit) for layer, numbers in enumerate(used) for unit in numbers.tolist()}
