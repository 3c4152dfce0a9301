"""Finished units of ``beyond/composite-clusters`` as a reader thinks of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..unit import Finished, Row

VIEWS = {"whole": 0, "without inputs": 1}
"""The graphs that are clustered, and the first layer of nodes that each has: all specialists share the inputs."""


@dataclass(frozen=True)
class Composed:
    """Composites of one condition, and generalists with as many weights.

    Attributes
    ----------
    labels : mapping
        Data, network, and how specialists are kept apart.
    composite, generalist : dict
        What was found, with a value for each seed.
    hidden_units : int
        How many each network has.
    least_p : float
        The smallest p-value that the permutations can give.
    """

    labels: Mapping[str, str]
    composite: Row
    generalist: Row
    hidden_units: int
    least_p: float


def read(finished: Sequence[Finished]) -> list[Composed]:
    """Return what is finished."""
    found = []
    for one in finished:
        settings = one.unit.settings
        net = settings["net"].partition(",")[0]
        labels = {
            "data": settings["data"],
            "net": net,
            "specialists": "slots" if settings["slots"] else f"{settings['sparsity']:g} pruned",
        }
        hidden = sum(map(int, net.removeprefix("mlp:").split("-")))
        least_p = 1 / (settings["permutations"] + 1)
        found.append(Composed(labels, one.row["composite"], one.row["generalist"], hidden, least_p))
    return found
