"""Findings of ``beyond/composite-clusters``: finished units as a reader thinks of them, and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from ..unit import Row, Unit

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


def composed(unit: Unit, row: Row) -> Composed:
    """Return what a unit gave."""
    settings = unit.settings
    net = settings["net"].partition(",")[0]
    hidden = sum(map(int, net.removeprefix("mlp:").split("-")))
    least_p = 1 / (settings["permutations"] + 1)
    return Composed(unit_labels(unit), row["composite"], row["generalist"], hidden, least_p)


def unit_labels(unit: Unit) -> dict[str, str]:
    """Return data, network, and how specialists are kept apart."""
    settings = unit.settings
    return {
        "data": settings["data"],
        "net": settings["net"].partition(",")[0],
        "specialists": "slots" if settings["slots"] else f"{settings['sparsity']:g} pruned",
    }


def in_words(found: Sequence[Composed]) -> str:
    """Return a list, in markdown, of what each kind of composite showed in each graph, over all data sets."""
    kinds = dict.fromkeys((one.labels["specialists"], one.labels["net"]) for one in found)
    lines = []
    for kind in kinds:
        chosen = [one for one in found if (one.labels["specialists"], one.labels["net"]) == kind]
        lines += [f"- {', '.join(kind)}, {view}: {_sentence(chosen, view)}" for view in VIEWS]
    return "**Found.**\n\n" + "\n".join(lines)


def _sentence(chosen: Sequence[Composed], view: str) -> str:
    found = [one.composite[view] for one in chosen]
    agreement = [value for one in found for value in one["owner"]["agreement"]]
    permuted = fmean(value for one in found for value in one["owner"]["permuted"])
    pattern = fmean(value for one in found for value in one["owner"]["pattern copies"])
    beyond = sum(p <= one.least_p for one in chosen for p in one.composite[view]["owner"]["p_value"])
    missed = sum(
        own < cut for one in found for own, cut in zip(one["owner"]["ncut"], one["ncut"], strict=True)
    )
    return (
        f"specialists {_shown(fmean(agreement), permuted)} clusters. Agreement {_two(fmean(agreement))} (from "
        f"{_two(min(agreement))} to {_two(max(agreement))}), {_two(permuted)} with permuted owners, {_two(pattern)} in "
        f"copies of the same pattern; beyond all permutations in {beyond} of {len(agreement)} networks. The owners' "
        f"partition has the lower n-cut in {missed}."
    )


def _shown(agreement: float, chance: float) -> str:
    """Return in a few words how much of the way from chance to sameness the clusters have gone."""
    way = (agreement - chance) / (1 - chance)
    for least, words in ((0.9, "are the"), (0.5, "mostly show as"), (0.1, "show in part as")):
        if way >= least:
            return words
    return "hardly show as"


def _two(number: float) -> str:
    return f"{round(number, 2) + 0.0:.2f}"  # no minus in front of 0
