"""Groups of the units of a network: specialists in slots, modules that edges show, spectral clusters, or layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...cluster.partition.spectral import spectral_clusters
from ...errors import SpecError
from ...graph import network_graph
from ...sculpting import detect_modules
from ...sculpting.drawing.style import layer_name
from ...sculpting.modules.hierarchy import Unit
from ...sculpting.modules.reach import used_units
from .limits import MOST_GROUPED
from .network import Edges, Network

Grouping = Literal["modules", "clusters", "specialists", "layers"]

_MEANINGLESS_DENSITY = 0.5
_STARTS = 5


@dataclass(frozen=True, eq=False)
class Groups:
    """The units of a network in groups, whichever of its edges are drawn.

    Attributes
    ----------
    grouping : {"modules", "clusters", "specialists", "layers"}
        What the groups are.
    modules : tuple of frozenset of Unit
        The groups.
    names : sequence of str
        What they are called.
    note : str
        What to know before one believes them.
    """

    grouping: Grouping
    modules: tuple[frozenset[Unit], ...]
    names: Sequence[str]
    note: str


def group_units(network: Network, grouping: Grouping | None = None, clusters: int = 4) -> Groups:
    """Return a network's units in groups: from its file where that says so, else from all of its edges.

    Parameters
    ----------
    network : Network
        A network with layers in order.
    grouping : {"modules", "clusters", "specialists", "layers"}, optional
        Which groups; by default specialists where each has units of its own, else modules, but clusters where more than
        half of all edges are there.
    clusters : int
        How many clusters.

    Raises
    ------
    SpecError
        When there are no layers in order, or too many units to find modules or clusters among.
    """
    if not network.edges:
        raise SpecError(network.doubt or "there are no layers to look at")
    if grouping is None:
        grouping = _usual(network)
    if grouping == "specialists":
        if not network.slots:
            raise SpecError(
                "there are no specialists with units of their own here; look at modules or clusters"
            )
        note = "Each group is what one specialist has for itself; the inputs are for all."
        return Groups(
            grouping, tuple(slot.units for slot in network.slots.values()), list(network.slots), note
        )
    if grouping == "layers":
        widths = network.widths
        layers = tuple(
            frozenset((layer, unit) for unit in range(width)) for layer, width in enumerate(widths)
        )
        return Groups(grouping, layers, [layer_name(layer, len(widths)) for layer in range(len(widths))], "")
    units = sum(network.widths)
    if units > MOST_GROUPED and network.hierarchy is None:
        raise SpecError(f"{units:,} units are too many to find groups among; {MOST_GROUPED:,} are the most")
    if grouping == "clusters":
        modules, letter = _clusters(network, clusters), "C"
        note = (
            f"Clusters of units that strong weights connect (spectral, k = {clusters}). Whether there is more to them "
            "than chance only an audit can tell."
        )
    else:
        modules, letter, note = (network.hierarchy or detect_modules(list(network.edges))).modules, "M", ""
        if (density := _density(network.edges)) > _MEANINGLESS_DENSITY:
            note = (
                f"{density:.0%} of all edges are there, so modules cannot be read off them: look at clusters."
            )
    return Groups(grouping, modules, [f"{letter}{number + 1}" for number in range(len(modules))], note)


def groupings_of(network: Network) -> list[Grouping]:
    """Return the ways in which a network's units can be grouped."""
    own: list[Grouping] = ["specialists"] if network.slots else []
    return ["modules", "clusters", *own, "layers"]


def _usual(network: Network) -> Grouping:
    if network.slots:
        return "specialists"
    # A sculpture comes with its modules, however many edges it was left.
    dense = network.hierarchy is None and _density(network.edges) > _MEANINGLESS_DENSITY
    return "clusters" if dense else "modules"


def _density(edges: Edges) -> float:
    return sum(int(matrix.sum()) for matrix in edges) / sum(matrix.size for matrix in edges)


def _clusters(network: Network, clusters: int) -> tuple[frozenset[Unit], ...]:
    """Return spectral clusters of the units on paths."""
    used = used_units(network.edges)
    if clusters >= sum(map(len, used)):
        raise SpecError(
            f"{sum(map(len, used))} units are on paths from inputs to outputs, too few for {clusters} clusters; ask "
            "for fewer"
        )
    weights = [
        np.where(there, np.abs(matrix), 0)
        for matrix, there in zip(network.matrices, network.edges, strict=True)
    ]
    labels = np.split(
        spectral_clusters(network_graph(weights), clusters, starts=_STARTS), np.cumsum(network.widths)[:-1]
    )
    groups: dict[int, set[Unit]] = {}
    for layer, units in enumerate(used):
        for unit in units.tolist():
            groups.setdefault(int(labels[layer][unit]), set()).add((layer, unit))
    return tuple(sorted(map(frozenset, groups.values()), key=min))
