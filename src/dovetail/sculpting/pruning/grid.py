"""The grid of searches: dense networks, then units, then edges, for every pair of first steps and every seed.

Searches that differ only in the step for edges prune the same units, and all searches of a seed start from the same
dense network. So a seed trains once, its units are pruned once for every step for units, what is left trains once more,
and only then does it fork into all its searches, each with random numbers of its own. How sums are rounded depends on
the shape of the stack, so on who else is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from ...population.memory import free_memory
from ...population.random import hash64
from .compact import Compact
from .perceptrons import Perceptrons
from .problem import Problem
from .proposals import EdgeProposal, Proposal, UnitProposal
from .repeated_trainer import RepeatedTrainer, TrainingSettings, measured
from .search import Accepted, search

DENSE_TRIES = 10
"""How often a dense network may train before it counts as not able to learn the task."""

_STREAMS = {"dense": 0, "units": 1_000, "again": 900_000, "edges": 1_000_000}
"""Where each phase's random streams begin; a round takes one."""

_LARGEST_SEED = 2**63 - 1

_ROWS = 16
"""How many times over a member's numbers are in memory while it is pruned."""

_CPU_BYTES = 2**30
"""What members that are pruned together may take on a CPU; always the same, so that results are, too."""


@dataclass(frozen=True)
class Searches:
    """What the searches of one seed found.

    Attributes
    ----------
    networks : Perceptrons
        Where each search ended, steps for units first; the dense network alone where it did not learn the task.
    steps : list of list of Accepted
        What each search accepted, the dense network first; none where that did not learn the task.
    wrong : int
        What the dense network got wrong.
    allowed : int
        What networks were allowed to get wrong.
    """

    networks: Perceptrons
    steps: list[list[Accepted]]
    wrong: int
    allowed: int


def search_grid(
    networks: Perceptrons,
    seeds: Sequence[int],
    problem: Problem,
    how: TrainingSettings,
    *,
    unit_steps: Sequence[float],
    edge_steps: Sequence[float],
    trained: bool,
    on_round: Callable[[str, int, int], None],
) -> list[Searches]:
    """Run all searches of a grid, of all seeds, in lockstep; return those of each seed.

    Parameters
    ----------
    networks : Perceptrons
        A network for each seed, changed in place.
    seeds : sequence of int
        What decides on order and noise.
    problem : Problem
        On the device of the networks.
    how : TrainingSettings
        How every training goes.
    unit_steps, edge_steps : sequence of float
        Shares to prune at first; an empty one leaves its phase out.
    trained : bool
        Whether the networks are trained already.
    on_round : callable
        Called with the phase, how many members it has, and how many of them have just ended.
    """
    device = networks.values.device
    wrong, loss = _train_dense(networks, list(seeds), problem, how, trained=trained)
    if problem.threshold is None:
        allowed = wrong.clone()
    else:
        allowed = torch.full_like(wrong, errors_allowed(problem.threshold, problem.answers))
    able = (wrong <= allowed) & loss.isfinite()
    if problem.threshold is None:  # its own accuracy is no measure for a network that has learned nothing
        able &= wrong < constant_errors(problem)
    learned = able.nonzero().squeeze(1)
    there = Compact.whole(networks)
    columns = [column[learned].tolist() for column in (there.units_left(), there.edges_left(), wrong, loss)]
    steps = [[Accepted("dense", 1, *values)] for values in zip(*columns, strict=True)]
    members, of_seed = networks.select(learned), learned
    phases: list[tuple[str, Sequence[float], Proposal]] = [
        ("units", unit_steps, UnitProposal(problem.val)),
        ("edges", edge_steps, EdgeProposal()),
    ]
    own = torch.tensor(seeds, device=device)[learned]
    for phase, sizes, proposal in phases:
        if not sizes or not len(of_seed):
            continue
        if phase == "edges" and unit_steps:
            members, again = _train_again(members, own.tolist(), problem, how, allowed[of_seed])
            steps = [
                [*accepted[:-1], replace(accepted[-1], **scores)]
                for accepted, scores in zip(steps, again, strict=True)
            ]
        forks = torch.arange(len(of_seed), device=device).repeat_interleave(len(sizes))
        first = torch.tensor(sizes, dtype=torch.float64, device=device).repeat(len(of_seed))
        of_seed, members = of_seed[forks], members.select(forks)
        own = cell_seeds(own[forks], torch.arange(len(sizes), device=device).repeat(len(forks) // len(sizes)))
        accepted: list[list[Accepted]] = []
        for places in torch.arange(len(members), device=device).split(members_at_once(members, problem, how)):
            pruned = search(
                members.select(places), own[places].tolist(), first[places], proposal,
                phase=phase, problem=problem, how=how, allowed=allowed[of_seed[places]], stream=_STREAMS[phase],
                on_round=partial(on_round, phase, len(members)),
            )  # fmt: skip
            members.values[places], members.kept[places] = pruned.networks.values, pruned.networks.kept
            accepted += pruned.steps
        steps = [steps[fork] + more for fork, more in zip(forks.tolist(), accepted, strict=True)]
    found = []
    for place in range(len(seeds)):
        its = (of_seed == place).nonzero().squeeze(1)
        ends = members.select(its) if len(its) else networks.select(torch.tensor([place], device=device))
        accepted = [steps[number] for number in its.tolist()]
        found.append(Searches(ends, accepted, int(wrong[place]), int(allowed[place])))
    return found


def cell_seeds(seeds: Tensor, steps: Tensor) -> Tensor:
    """Return seeds of their own for searches that begin with the steps of these numbers.

    Examples
    --------
    >>> cell_seeds(torch.tensor([0, 0, 1]), torch.tensor([0, 1, 0])).unique().numel()
    3
    """
    return hash64(hash64(seeds) + steps + 1) & _LARGEST_SEED


def _train_again(
    members: Perceptrons, seeds: list[int], problem: Problem, how: TrainingSettings, allowed: Tensor
) -> tuple[Perceptrons, list[dict[str, Any]]]:
    """Return members after one more training, and what each scores then, as in `Accepted`.

    Those that no longer do the task after it stay as they were, with no new score.
    """
    everyone = torch.arange(len(members), device=allowed.device)
    found, scores = members.select(everyone), list[dict[str, Any]]()
    for places in everyone.split(members_at_once(members, problem, how)):
        again = members.select(places)
        trainer = RepeatedTrainer(again, [seeds[n] for n in places.tolist()], problem.train, problem.val, how)
        best = trainer.train(_STREAMS["again"])
        trainer.close()
        still = (best.wrong <= allowed[places]) & best.loss.isfinite()
        found.values[places[still]] = again.values[still]
        for wrong, loss, taken in zip(best.wrong.tolist(), best.loss.tolist(), still.tolist(), strict=True):
            scores.append({"wrong": wrong, "loss": loss} if taken else {})
    return found, scores


def constant_errors(problem: Problem) -> int:
    """Return how many errors on the validation split the best answer makes that does not look at inputs.

    A task whose answer is the same for all inputs is done by that answer; then any number of errors is too many.
    """
    y = problem.val.y
    if problem.head == "classes":
        errors = len(y) - int(y.bincount().max())
    else:
        ones = (y > 0.5).sum(0)
        errors = int(torch.minimum(ones, len(y) - ones).sum())
    return errors or 1


def errors_allowed(threshold: float, answers: int) -> int:
    """Return how many of a number of answers may be wrong at an accuracy of at least the threshold.

    Examples
    --------
    >>> errors_allowed(1.0, 64), errors_allowed(0.99, 100), errors_allowed(0.98, 1)
    (0, 1, 0)
    """
    allowed = int((1 - threshold) * answers + 1)
    while (answers - allowed) / answers < threshold - 1e-12:
        allowed -= 1
    return allowed


def _train_dense(
    networks: Perceptrons, seeds: list[int], problem: Problem, how: TrainingSettings, *, trained: bool
) -> tuple[Tensor, Tensor]:
    """Train until all do the task, or have tried often enough; return errors and losses."""
    wrong, loss = measured(networks, problem.val)
    waiting = torch.arange(len(networks), device=wrong.device)
    enough = -1 if problem.threshold is None else errors_allowed(problem.threshold, problem.answers)
    if trained:
        waiting = waiting[:0] if problem.threshold is None else waiting[wrong > enough]
    for attempt in range(DENSE_TRIES):
        if not len(waiting):
            break
        again = networks.select(waiting)
        trainer = RepeatedTrainer(
            again, [seeds[place] for place in waiting.tolist()], problem.train, problem.val, how
        )
        best = trainer.train(_STREAMS["dense"] + attempt)
        trainer.close()
        # A later try may end worse than an earlier one.
        better = best.wrong < wrong[waiting] if attempt else torch.ones_like(best.wrong, dtype=torch.bool)
        at = waiting[better]
        networks.values[at], wrong[at], loss[at] = again.values[better], best.wrong[better], best.loss[better]
        # Without a threshold the network's own accuracy is the measure: one training gives it.
        waiting = waiting[:0] if problem.threshold is None else waiting[best.wrong > enough]
    return wrong, loss


def members_at_once(networks: Perceptrons, problem: Problem, how: TrainingSettings) -> int:
    """Return how many members to prune together: half of what is free on a GPU, always as many on a CPU."""
    in_batch = how.batch_size * (3 * sum(networks.widths) + problem.inputs)
    numbers = _ROWS * networks.values.shape[1] + in_batch
    bytes_each = networks.values.element_size() * numbers
    device = networks.values.device
    budget = free_memory(device) // 2 if device.type == "cuda" else _CPU_BYTES
    return max(1, budget // bytes_each)
