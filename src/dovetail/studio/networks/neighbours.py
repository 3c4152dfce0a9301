"""What a unit reads and what reads it, the strongest weights first."""

from __future__ import annotations

import numpy as np
from pydantic import BaseModel

from ..missing import MissingError
from .limits import MOST_NEIGHBOURS
from .network import Network


class Neighbour(BaseModel):
    """A unit at the other end of an edge, and the weight of the edge where it is known."""

    layer: int
    unit: int
    name: str
    weight: float | None


class Neighbours(BaseModel):
    """The strongest edges on one side of a unit, and how many there are in all."""

    strongest: list[Neighbour]
    total: int


class UnitFacts(BaseModel):
    """A unit, what it reads and what reads it."""

    name: str
    inputs: Neighbours
    outputs: Neighbours


def unit_facts(network: Network, layer: int, unit: int) -> UnitFacts:
    """Return what there is to know of a unit.

    Raises
    ------
    MissingError
        When there is no such unit.
    """
    widths = network.widths
    if not (0 <= layer < len(widths) and 0 <= unit < widths[layer]):
        raise MissingError(
            f"there is no unit {unit} in layer {layer} of a network with {'-'.join(map(str, widths))} units"
        )
    return UnitFacts(
        name=network.unit_name((layer, unit)),
        inputs=_side(network, layer - 1, (unit, slice(None)), layer - 1),
        outputs=_side(network, layer, (slice(None), unit), layer + 1),
    )


def _side(network: Network, matrix: int, place: tuple[int | slice, int | slice], layer: int) -> Neighbours:
    """Return the edges of a unit in one matrix, which lead to units of a layer."""
    if not 0 <= matrix < len(network.edges):
        return Neighbours(strongest=[], total=0)
    there, weights = np.flatnonzero(network.edges[matrix][place]), network.matrices[matrix][place]
    order = there[np.argsort(-np.abs(weights[there]), kind="stable")]
    known = network.kind != "modules"
    strongest = [
        Neighbour(
            layer=layer,
            unit=other,
            name=network.unit_name((layer, other)),
            weight=float(weights[other]) if known else None,
        )
        for other in order[:MOST_NEIGHBOURS].tolist()
    ]
    return Neighbours(strongest=strongest, total=len(there))
