"""A consensus over many searches: the module structure that most of them end with, and how sure each module is.

A single sculpture is one of many networks that do its task with about as few edges, and many of those have other
modules. Here all searches vote that end with little more than the fewest edges of their seed, all seeds alike.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DataError, SpecError
from ..markup import excerpt_html, text_html
from ..result import Result, plain
from .drawing.draw import drawing_html
from .drawing.style import counted
from .measures.agreement import Agreement, agreement, common_inputs, labels_of
from .modules.hierarchy import MOST_MODULES, Hierarchy
from .sculpture import Sculpture
from .search_end import SearchEnd

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

WITHIN = 1.2
"""How many times the fewest edges of its seed a network may have to vote.

Chosen on seeds 10 to 13 of the reused Boolean tasks with three layers, which no recipe reports; from 1.1 to 1.3 the
outcome is about the same.
"""

Ends = tuple[frozenset[int], frozenset[int]]
"""The inputs and the outputs of a module."""


class _Voter(NamedTuple):
    seed: int
    weight: float
    search: SearchEnd
    tied: bool
    hierarchy: Hierarchy


@dataclass(frozen=True)
class Consensus(Result):
    """What many searches agree on.

    Attributes
    ----------
    hierarchy : Hierarchy
        The structure with most votes, as the sparsest network that has it shows it.
    share : float
        Its share of the votes.
    stability : tuple of float
        For each module of the hierarchy, the share of votes for structures that have one with its ends; NaN for a
        module of inputs that other networks do not use.
    runner_up : float
        The share of votes of the next structure.
    seeds, networks : int
        How many seeds and networks voted.
    within : float
        How many times the fewest edges of its seed a network could have.
    agreements : dict of str to Agreement
        How alike modules are: over ``"seeds"`` (the sculptures), over ``"searches"`` of one seed, and over ``"ties"``,
        searches of one seed that end with as few edges; kinds of which there is no pair are left out.

    Examples
    --------
    >>> import dovetail as dt
    >>> found = dt.sculpt_seeds([4, 2, 4], [12], range(3), unit_steps=[0.3, 0.5], edge_steps=[0.02], progress=False)
    >>> found.consensus()
    Consensus(2 modules, 100% of 6 networks, 3 seeds)
    """

    hierarchy: Hierarchy
    share: float
    stability: tuple[float, ...]
    runner_up: float
    seeds: int
    networks: int
    within: float = WITHIN
    agreements: dict[str, Agreement] = field(default_factory=dict)

    def describe(self) -> str:
        """Return a few lines that say what the modules are and how sure they are."""
        what, *modules = self.hierarchy.describe().splitlines()
        tie = ", a tie that the sparser one wins" if self.share == self.runner_up else ""
        sure = [f" ({_percent(share)})" for share in self.stability[:MOST_MODULES]]
        lines = [
            f"consensus of {counted(self.networks, 'network')}, {counted(self.seeds, 'seed')}, up to {self.within:g} "
            "times the fewest edges",
            f"  structure  in {self.share:.0%}, the next in {self.runner_up:.0%}{tie}: {what}",
            *(
                f"           {line}{sure[place] if place < len(sure) else ''}"
                for place, line in enumerate(modules)
            ),
            *(f"  {f'over {kind}':<15} agreement {value}" for kind, value in self.agreements.items()),
        ]
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each module: its inputs, its outputs, how stable it is."""
        return self.hierarchy.to_frame()[["module", "inputs", "outputs"]].assign(stability=self.stability)

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values, ready for JSON."""
        others = {name: plain(value) for name, value in vars(self).items() if name != "hierarchy"}
        return {**others, "hierarchy": self.hierarchy.to_dict()}

    def plot(self, **options: Any) -> Axes:
        """Draw the hierarchy, each module with its stability; options are those of `draw_hierarchy`."""
        return self.hierarchy.plot(**{"module_names": self._names, **options})

    @property
    def _names(self) -> list[str]:
        """What pictures call the modules."""
        return [f"M{number}: {_percent(share)}" for number, share in enumerate(self.stability, 1)]

    def _html_pieces(self) -> Iterable[str]:
        yield text_html(repr(self))
        yield drawing_html(self.hierarchy, module_names=self._names)
        yield excerpt_html(self.to_frame())

    def __repr__(self) -> str:
        modules = f"{len(self.hierarchy.modules)} module{'s' * (len(self.hierarchy.modules) != 1)}"
        return f"Consensus({modules}, {self.share:.0%} of {self.networks} networks, {self.seeds} seeds)"


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{share:.0%}"


def consensus(sculptures: Sequence[Sculpture], within: float = WITHIN) -> Consensus:
    """Return the module structure that most searches of some sculptures end with.

    Parameters
    ----------
    sculptures : sequence of Sculpture
        For one task, with all their searches; of one architecture or several. Those that have not learned the task have
        no vote.
    within : float
        How many times the fewest edges of its seed a network may have to vote.

    Examples
    --------
    >>> import dovetail as dt
    >>> sculpture = dt.sculpt([4, 2, 4], [12], unit_steps=[0.3, 0.5], edge_steps=[0.02], progress=False)
    >>> consensus([sculpture]).seeds
    1
    """
    if not isinstance(within, int | float) or not within >= 1:
        raise SpecError(f"within is 1 or more, how many times the fewest edges count; got {within!r:.40}")
    for sculpture in sculptures:
        if not isinstance(sculpture, Sculpture):
            raise DataError(
                f"a consensus is of sculptures, not {sculpture!r:.60}; open files with dovetail.open"
            )
    if len({(one.task, one.fingerprint, one.widths[0], one.widths[-1]) for one in sculptures}) > 1:
        raise DataError("a consensus is about one task; these sculptures are for several")
    twice = [one for one, times in Counter((one.seed, one.widths) for one in sculptures).items() if times > 1]
    if twice:
        raise DataError(f"seed {twice[0][0]} is there more than once, and would vote more than once")
    voters: list[_Voter] = []
    learned = [sculpture for sculpture in sculptures if sculpture.searches]
    for place, sculpture in enumerate(learned):
        found = sculpture.hierarchies(within)
        voters += [
            _Voter(place, 1 / len(found), search, search.edges == sculpture.edges, hierarchy)
            for search, hierarchy in found
        ]
    if not voters:
        why = "no network has learned its task; train longer (epochs), or ask for less (threshold)"
        if not sculptures:
            why = "there are no sculptures"
        elif any(one.outcome != "not learned" for one in sculptures):
            why = "these files hold no searches, only the network that was chosen; sculpt again"
        raise DataError(f"there is nothing to agree on: {why}")
    inputs = common_inputs([voter.hierarchy for voter in voters])
    structures = [_structure(voter.hierarchy, inputs) for voter in voters]
    votes: defaultdict[frozenset[tuple[Ends, int]], float] = defaultdict(float)
    best: dict[frozenset[tuple[Ends, int]], tuple[int, float, int]] = {}
    for place, (voter, structure) in enumerate(zip(voters, structures, strict=True)):
        votes[structure] += voter.weight / len(learned)
        sparse = (voter.search.edges, voter.search.loss, place)
        best[structure] = min(best.get(structure, sparse), sparse)
    ranked = sorted(votes, key=lambda structure: (-round(votes[structure], 9), best[structure]))
    chosen = voters[best[ranked[0]][2]].hierarchy
    comparable = _counted(chosen, inputs)
    stability = tuple(
        round(sum(votes[structure] for structure in votes if any(ends == own for own, _ in structure)), 9)
        if counts
        else math.nan
        for ends, counts in zip(_ends(chosen, inputs), comparable, strict=True)
    )
    first, second = ([round(votes[structure], 9) for structure in ranked] + [0.0])[:2]
    return Consensus(
        chosen, first, stability, second, len(learned), len(voters), float(within),
        _agreements(learned, voters, inputs),
    )  # fmt: skip


def _ends(hierarchy: Hierarchy, inputs: Sequence[int]) -> list[Ends]:
    """Return what each module holds of these inputs and of all outputs."""
    common = frozenset(inputs)
    return [
        (hierarchy.inputs_of(module) & common, hierarchy.outputs_of(module))
        for module in range(len(hierarchy.modules))
    ]


def _structure(hierarchy: Hierarchy, inputs: Sequence[int]) -> frozenset[tuple[Ends, int]]:
    """Return a structure as `compare` sees it: modules by their inputs and outputs, and how many of each there are."""
    ends = zip(_ends(hierarchy, inputs), _counted(hierarchy, inputs), strict=True)
    return frozenset(Counter(own for own, counts in ends if counts).items())


def _counted(hierarchy: Hierarchy, inputs: Sequence[int]) -> list[bool]:
    """Return which modules can be compared: not those all of whose inputs some other network does without."""
    return [
        any(own) or not hierarchy.inputs_of(module) for module, own in enumerate(_ends(hierarchy, inputs))
    ]


def _agreements(
    learned: Sequence[Sculpture], voters: Sequence[_Voter], inputs: Sequence[int]
) -> dict[str, Agreement]:
    """Return how alike modules are over sculptures, over searches of a seed, and over those that tie."""
    chosen = [labels_of(sculpture.hierarchy, inputs) for sculpture in learned]
    labels = [labels_of(voter.hierarchy, inputs) for voter in voters]
    by_seed: defaultdict[int, list[int]] = defaultdict(list)
    for place, voter in enumerate(voters):
        by_seed[voter.seed].append(place)
    inside = [(a, b) for places in by_seed.values() for n, a in enumerate(places) for b in places[n + 1 :]]
    ties = [(a, b) for a, b in inside if voters[a].tied and voters[b].tied]
    found = {
        "seeds": agreement(chosen),
        "searches": agreement(labels, inside),
        "ties": agreement(labels, ties),
    }
    return {kind: value for kind, value in found.items() if value is not None}
