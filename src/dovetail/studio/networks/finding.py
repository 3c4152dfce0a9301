"""Units and layers of a network found by what they are called."""

from __future__ import annotations

from pydantic import BaseModel

from .network import Network
from .picture import layers_of

MOST_FOUND = 30


class FoundUnit(BaseModel):
    """A unit, or a layer by its first unit, and what it is called."""

    layer: int
    unit: int
    name: str


class FoundUnits(BaseModel):
    """What was found first, and whether there is more."""

    found: list[FoundUnit]
    more: bool


def find_units(network: Network, text: str) -> FoundUnits:
    """Return layers and units whose names have all words of a text in them, layers first.

    Examples
    --------
    >>> import torch
    >>> from dovetail.graph.chain import layer_chain
    >>> tensors = {"a.weight": torch.ones(3, 2), "b.weight": torch.ones(1, 3)}
    >>> network = Network("checkpoint", "", {}, tensors, tuple(layer_chain(tensors)))
    >>> [one.name for one in find_units(network, "unit 2").found]
    ['hidden 1, unit 2']
    >>> [one.name for one in find_units(network, "B").found]
    ['outputs (b)']
    """
    words = text.lower().replace(",", " ").split()
    if not words or not network.edges:
        return FoundUnits(found=[], more=False)
    found: list[FoundUnit] = []

    def matches(name: str) -> bool:
        own = name.lower().replace(",", " ").split()
        # Numbers are meant whole: "unit 1" is not unit 10.
        return all(word in own if word.isdigit() else word in name.lower() for word in words)

    for layer, facts in enumerate(layers_of(network)):
        if matches(facts.name):
            found.append(FoundUnit(layer=layer, unit=0, name=facts.name))
    for layer, width in enumerate(network.widths):
        for unit in range(width):
            name = network.unit_name((layer, unit))
            if matches(name):
                if len(found) == MOST_FOUND:
                    return FoundUnits(found=found, more=True)
                found.append(FoundUnit(layer=layer, unit=unit, name=name))
    return FoundUnits(found=found, more=False)
