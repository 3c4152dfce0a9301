"""What is measured for a report on specialists: alone, put together, merged one by one, and on the paths between them.

Everything is bounded, so that a page on ten MNIST perceptrons takes less than a minute on two cores.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import torch

from ..data import Dataset
from ..data.split import Split
from ..errors import DovetailError
from ..specialists import (
    Composite,
    Connectivity,
    MergeCurve,
    Part,
    Score,
    Specialist,
    connectivity,
    evaluate_all,
    incremental_connectivity,
    merge_curve,
)
from ..specialists.composite import compose_quietly
from ..specialists.merge import some_of

STEPS = 4
"""How often `measure_team` tells what it does next."""
MOST_SEEDS = 5
"""Seeds whose sums are measured."""
MOST_STEPS = 12
"""Specialists that are merged one after the other."""
MOST_PAIRED = 10
"""Specialists between which every pair is measured."""
_RUNS = 5
"""Orders in which they are merged, over all seeds."""
_CURVE_SAMPLES, _PATH_SAMPLES, _PAIR_SAMPLES = 5000, 2000, 1000
_PAIR_POINTS = 5
"""Points on each half of a path, where there are many paths."""


@dataclass(frozen=True, eq=False)
class TeamMeasures:
    """What a team of specialists that were trained alike scored on a test split.

    Attributes
    ----------
    name : str
        What tells the team from others.
    data : str
        What it was measured on.
    samples : int
        How many samples.
    scores : dict of Part to Score
        Of specialists and of composites.
    sums : dict of str to Composite
        The specialists of each seed put together, by a name.
    curve : MergeCurve or None
        Accuracy over the number of specialists merged.
    steps : list of Connectivity
        From what is merged so far to the next specialist.
    pairs : list of Connectivity
        Between any two.
    notes : list of str
        What could not be measured, and why.
    seconds : float
        How long it took.
    """

    name: str
    data: str
    samples: int
    scores: dict[Part, Score]
    sums: dict[str, Composite]
    curve: MergeCurve | None
    steps: list[Connectivity]
    pairs: list[Connectivity]
    notes: list[str]
    seconds: float


def teams_of(specialists: Sequence[Specialist]) -> dict[str, list[Specialist]]:
    """Return specialists by how they were trained, which is what those that fit together share."""
    groups: dict[str, list[Specialist]] = {}
    for part in specialists:
        provenance = part.provenance
        alike = [
            part.blueprint.text,
            provenance.data,
            provenance.fingerprint,
            provenance.loss,
            provenance.slots,
            provenance.training,
        ]
        groups.setdefault(json.dumps(alike, sort_keys=True), []).append(part)
    names: dict[str, list[Specialist]] = {}
    for team in groups.values():
        name = f"{team[0].provenance.data}, {team[0].blueprint.net}"
        if len(groups) > 1:
            slots = "in slots" if team[0].provenance.slots else f"{100 * team[0].sparsity:.0f} % sparse"
            name += f", {team[0].provenance.loss}, {slots}"
        number = sum(other == name or other.startswith(f"{name} (") for other in names) + 1
        names[name if number == 1 else f"{name} ({number})"] = team
    return names


def measure_team(
    name: str,
    team: Sequence[Specialist],
    composites: Sequence[Composite],
    data: Dataset,
    *,
    samples: int | None = None,
    tell: Callable[[str], object] = lambda step: None,
) -> TeamMeasures:
    """Measure specialists that were trained alike, and composites of the same blueprint.

    Parameters
    ----------
    name : str
        What to call the team.
    team : sequence of Specialist
        Those to measure.
    composites : sequence of Composite
        Measured beside them, as they are.
    data : Dataset
        Whose test split to measure on.
    samples : int, optional
        How many samples of it to measure on; all by default.
    tell : callable
        Is told what is done next, `STEPS` times.
    """
    begun = time.perf_counter()
    split = _drawn(data.test, samples)
    tell("alone and together")
    sums, notes = _sums(team, data)
    parts: list[Part] = list(dict.fromkeys([*team, *composites, *sums.values()]))
    scores = dict(zip(parts, evaluate_all(parts, split), strict=True))
    fitting = [whole.specialists for whole in sums.values()]
    tell("merging one by one")
    curve = _curve(fitting, split, data)
    tell("paths, step by step")
    steps = incremental_connectivity(fitting[0][:MOST_STEPS], _drawn(split, _PATH_SAMPLES)) if fitting else []
    tell("paths between pairs")
    pairs = _pairs(fitting[0][:MOST_PAIRED], split) if fitting else []
    seconds = time.perf_counter() - begun
    return TeamMeasures(name, data.name, len(split), scores, sums, curve, steps, pairs, notes, seconds)


def _sums(team: Sequence[Specialist], data: Dataset) -> tuple[dict[str, Composite], list[str]]:
    """Return the specialists of each seed added up, where they fit, and where they do not, why."""
    by_seed: dict[int, list[Specialist]] = {}
    for part in team:
        by_seed.setdefault(part.seed, []).append(part)
    sums, notes = {}, []
    for seed, mine in list(by_seed.items())[:MOST_SEEDS]:
        of_seed = f", seed {seed}" if len(by_seed) > 1 else ""
        if len(mine) > 1:
            try:
                whole = compose_quietly(mine, inputs=some_of(data.train.x))
                sums[f"sum of {len(mine)}{of_seed}"] = whole
            except DovetailError as error:
                notes.append(f"Not added up{of_seed}: {error}.")
    if len(by_seed) > MOST_SEEDS:
        notes.append(f"Sums are of the first {MOST_SEEDS} of {len(by_seed)} seeds.")
    return sums, notes


def _curve(teams: Sequence[Sequence[Specialist]], split: Split, data: Dataset) -> MergeCurve | None:
    """Return the curve of all seeds that have as many specialists as the first."""
    alike = [team[:MOST_STEPS] for team in teams if len(team) == len(teams[0])]
    if not alike:
        return None
    members = [part for team in alike for part in team]
    return merge_curve(
        members,
        _drawn(split, _CURVE_SAMPLES),
        orders=max(1, _RUNS // len(alike)),
        inputs=some_of(data.train.x),
    )


def _pairs(team: Sequence[Specialist], split: Split) -> list[Connectivity]:
    few = _drawn(split, _PAIR_SAMPLES)
    return [connectivity([a, b], few, points=_PAIR_POINTS) for a, b in combinations(team, 2)]


def _drawn(split: Split, samples: int | None) -> Split:
    """Return that number of samples of a split, always the same ones; all of it if it has no more."""
    if samples is None or samples >= len(split):
        return split
    order = torch.randperm(len(split), generator=torch.Generator().manual_seed(0))
    return split.where(order[:samples].sort().values)
