"""Which units of a composite in slots belong to which of its specialists."""

from __future__ import annotations

from collections.abc import Sequence

from ...graph.chain import Layer
from ...sculpting.modules.hierarchy import Unit
from ...sculpting.modules.reach import used_units
from ...specialists.fitting import in_own_slots
from ...specialists.part import Part
from .limits import MOST_WEIGHTS
from .network import matrices_of


def owners_of(part: Part, chain: Sequence[Layer]) -> dict[str, frozenset[Unit]]:
    """Return the hidden units and the outputs of each specialist by what it knows, and the inputs as one more group.

    Nothing where specialists share hidden units.
    """
    members = part.specialists
    size = sum(layer.inputs * layer.units for layer in chain)
    if len(members) < 2 or not chain or not in_own_slots(members) or size * len(members) > MOST_WEIGHTS:
        return {}
    owned: dict[str, frozenset[Unit]] = {}
    for member in members:
        edges = [matrix != 0 for matrix in matrices_of(member.state_dict(), chain)]
        used = used_units(edges)
        hidden = {(layer, unit) for layer in range(1, len(chain)) for unit in used[layer].tolist()}
        owned[member.knows] = frozenset(hidden.union((len(chain), number) for number in member.rewarded))
    units = sum(map(len, owned.values()))
    if len(frozenset().union(*owned.values())) < units or len(owned) < len(members):
        return {}
    return owned | {"inputs": frozenset((0, unit) for unit in range(chain[0].inputs))}
