"""Pictures of a network: what it is, its layers, its groups of units as a drawing, and single units."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import BaseModel

from ...errors import SpecError
from ...graph.chain import find_layers
from ...report.hierarchy_view import hierarchy_data
from ...sculpting.drawing.style import composition, counted, layer_name, unused_note
from ...sculpting.modules.reach import used_units
from ..folder import MissingError
from .drawn import Drawn, draw_groups
from .grouping import Grouping, Groups, groupings_of
from .limits import MOST_NEIGHBOURS
from .network import Kind, Network
from .parts_matrix import PartsMatrix


class LayerFacts(BaseModel):
    """A layer: its units, those in use, and its edges to the layer before, with the share of all there could be."""

    name: str
    units: int
    used: int | None
    edges: int | None
    density: float | None


class GroupFacts(BaseModel):
    """A group of units: its name, what it is made of, and its place among the modules of the drawing, if it has one."""

    name: str
    text: str
    drawn: int | None


class Picture(BaseModel):
    """A network as the view shows it; ``drawing`` is what the script for modules takes, missing for too many units.

    ``strongest`` is the percentage of the edges of each layer that are drawn; groups are of the whole network.
    ``parts`` is a composite by its parts and outputs.
    """

    kind: Kind
    title: str
    facts: dict[str, str]
    layers: list[LayerFacts]
    doubt: str
    groupings: list[Grouping]
    grouping: Grouping | None = None
    groups: list[GroupFacts] = []
    strongest: float | None = None
    note: str = ""
    unused: str = ""
    drawing: dict[str, Any] | None = None
    parts: PartsMatrix | None = None


def picture_of(network: Network, groups: Groups | SpecError, strongest: float | None = None) -> Picture:
    """Return what to show of a network, with its groups or why there are none.

    Parameters
    ----------
    network : Network
        The network.
    groups : Groups or SpecError
        Its units in groups, or why there are none.
    strongest : float, optional
        Percentage of the edges of each layer to draw; by default as many as can be drawn.
    """
    picture = Picture(
        kind=network.kind,
        title=network.title,
        facts=dict(network.facts),
        layers=layers_of(network),
        doubt=network.doubt,
        groupings=groupings_of(network) if network.edges else [],
        parts=network.parts,
    )
    if isinstance(groups, SpecError):
        picture.note = "" if str(groups) == network.doubt else f"{groups}."
        return picture
    picture.grouping = groups.grouping
    drawn: Drawn | None = None
    notes = [groups.note]
    try:
        drawn = draw_groups(network, groups, strongest)
        if drawn.strongest < 100:
            notes.insert(0, f"Only the strongest {drawn.strongest:g} % of the edges of each layer are drawn.")
    except SpecError as error:
        notes.insert(0, f"{error}.")
    picture.note = " ".join(filter(None, notes))
    places = {} if drawn is None else {number: place for place, number in enumerate(drawn.numbers)}
    picture.groups = [
        GroupFacts(name=name, text=composition(units, len(network.widths)), drawn=places.get(number))
        for number, (name, units) in enumerate(zip(groups.names, groups.modules, strict=True))
    ]
    if drawn is not None:
        hierarchy, picture.strongest = drawn.hierarchy, drawn.strongest
        names = (
            network.inputs,
            network.outputs,
            [groups.names[number] for number in drawn.numbers],
        )
        picture.unused = (
            unused_note(hierarchy) if drawn.strongest == 100 else _not_reached(len(hierarchy.unused))
        )
        own = network.explanation if groups.grouping == "modules" else None
        picture.drawing = hierarchy_data(hierarchy, names, own)
    return picture


def _not_reached(units: int) -> str:
    """Return what to say of units that the drawn edges lead past: others may use them."""
    return f"{counted(units, 'unit')} on no path of these edges left out" if units else ""


def layers_of(network: Network) -> list[LayerFacts]:
    """Return the layers of a network, inputs first; only those with weights where they are not in order."""
    if not network.edges:
        return [
            LayerFacts(
                name=layer.weight, units=layer.units, used=None, edges=count, density=count / all_of_it
            )
            for layer in find_layers(network.tensors)
            if (all_of_it := network.tensors[layer.weight].numel())
            for count in [int((network.tensors[layer.weight].to_dense() != 0).sum())]
        ]
    used, layers = used_units(network.edges), len(network.widths)
    found = [LayerFacts(name="inputs", units=network.widths[0], used=len(used[0]), edges=None, density=None)]
    for number, edges in enumerate(network.edges, start=1):
        count = int(edges.sum())
        name = layer_name(number, layers)
        if network.chain:
            name += f" ({network.chain[number - 1].weight.removesuffix('.weight')})"
        found.append(
            LayerFacts(
                name=name, units=len(edges), used=len(used[number]), edges=count, density=count / edges.size
            )
        )
    return found


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
    """A unit, what it reads and what reads it, and what it computes where that is known."""

    name: str
    computes: str
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
    computed = None if network.explanation is None else network.explanation.unit((layer, unit))
    return UnitFacts(
        name=network.unit_name((layer, unit)),
        computes="" if computed is None else computed.says(),
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
