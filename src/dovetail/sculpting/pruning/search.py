"""A search: prune in steps until the task is no longer done, then in smaller ones, for many networks in lockstep.

Every member has its own step and its own last accepted network. In a round each prunes a little more than it has
accepted, all train, and those that still do the task accept. The others go back and halve their step; who fails at
a step of a single unit or edge is done and leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import torch
from torch import Tensor

from .compact import Compact
from .perceptrons import Perceptrons
from .problem import Problem
from .proposals import Proposal
from .repeated_trainer import RepeatedTrainer, TrainingSettings

_LEAVE_BELOW = 0.8
"""Members that are done leave, and matrices are cut, when what is left is at most this share."""


@dataclass(frozen=True)
class Accepted:
    """A step of pruning after which the task was still done.

    Attributes
    ----------
    phase : {"dense", "units", "edges"}
        What was pruned.
    round : int
        In which round of its phase, from 1; more trainings than steps were accepted.
    units, edges : int
        Hidden units that have edges, and edges, that were left.
    wrong : int
        Bits (or classes) of the validation split that the network got wrong.
    loss : float
        Its mean loss there.
    """

    phase: str
    round: int
    units: int
    edges: int
    wrong: int
    loss: float


@dataclass
class Found:
    """What a search ends with.

    Attributes
    ----------
    networks : Perceptrons
        The last accepted networks at their original size.
    steps : list of list of Accepted
        The accepted steps of each member.
    trainings : int
        Trainings of all members together.
    """

    networks: Perceptrons
    steps: list[list[Accepted]]
    trainings: int = 0


@dataclass
class _Walk:
    """The members that are still searching."""

    numbers: Tensor
    accepted: Compact
    shares: Tensor
    steps: Tensor
    seeds: list[int] = field(repr=False)
    ended: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.ended = torch.zeros_like(self.numbers, dtype=torch.bool)

    def select(self, places: Tensor) -> _Walk:
        return _Walk(
            self.numbers[places],
            self.accepted.select(places),
            self.shares[places],
            self.steps[places],
            [self.seeds[place] for place in places.tolist()],
        )


def search(
    networks: Perceptrons,
    seeds: list[int],
    steps: Tensor,
    proposal: Proposal,
    *,
    phase: str,
    problem: Problem,
    how: TrainingSettings,
    allowed: Tensor,
    stream: int,
    on_round: Callable[[int], None],
) -> Found:
    """Prune every network as far as it goes.

    Parameters
    ----------
    networks : Perceptrons
        Trained networks that do the task.
    seeds : list of int
        One per member; equal seeds see samples in the same order and with the same noise.
    steps : Tensor
        The share of units or edges that each member prunes at first, float64.
    proposal : Proposal
        What to prune.
    phase : str
        Its name in the record.
    problem : Problem
        What to train and to validate on.
    how : TrainingSettings
        As in `RepeatedTrainer`.
    allowed : Tensor
        How many errors in validation each member may make.
    stream : int
        The random stream of the first round; the next round takes the next one.
    on_round : callable
        Called after every round with how many members ended in it.
    """
    device = networks.values.device
    whole = Compact.whole(networks)
    smallest = proposal.smallest(networks.widths)
    walk = _Walk(
        torch.arange(len(networks), device=device), whole, proposal.gone(whole), steps.to(device).clamp(min=smallest),
        seeds,
    )  # fmt: skip
    found = Found(networks.select(walk.numbers), [[] for _ in seeds])
    trainer: RepeatedTrainer | None = None
    for number in count(1):
        if not len(walk.numbers):
            break
        found.trainings += int((~walk.ended).sum())
        if trainer is None:
            walk.accepted = walk.accepted.tightened()
            trainer = RepeatedTrainer(walk.accepted.stack.copy(), walk.seeds, problem.train, problem.val, how)
        shares = (walk.shares + walk.steps).clamp(max=1)
        trainer.stack.values.copy_(walk.accepted.stack.values)
        trainer.stack.kept.copy_(proposal(walk.accepted, shares))
        best = trainer.train(stream + number)
        done = (best.wrong <= allowed[walk.numbers]) & ~walk.ended
        _accept(walk, trainer.stack, done, shares)
        columns = [walk.numbers, done, walk.accepted.units_left(), walk.accepted.edges_left(), *best]
        for member, accepted, *left in zip(*(column.tolist() for column in columns), strict=True):
            if accepted:
                found.steps[member].append(Accepted(phase, number, *left))
        ending = torch.where(done, walk.shares >= 1, walk.steps <= smallest) & ~walk.ended
        walk.steps = torch.where(done, walk.steps, (walk.steps / 2).clamp(min=smallest))
        _put_away(found, walk, ending)
        walk.ended |= ending
        staying = (~walk.ended).nonzero().squeeze(1)
        on_round(int(ending.sum()))
        if len(staying) <= _LEAVE_BELOW * len(walk.numbers) or walk.accepted.slack() <= _LEAVE_BELOW:
            trainer.close()
            walk, trainer = walk.select(staying), None
    return found


def _accept(walk: _Walk, trained: Perceptrons, done: Tensor, shares: Tensor) -> None:
    stack = walk.accepted.stack
    stack.values = torch.where(done.unsqueeze(1), trained.values, stack.values)
    stack.kept = torch.where(done.unsqueeze(1), trained.kept, stack.kept)
    walk.shares = torch.where(done, shares, walk.shares)


def _put_away(found: Found, walk: _Walk, ended: Tensor) -> None:
    """Keep the networks of members that are done, at their original size."""
    places = ended.nonzero().squeeze(1)
    if len(places):
        full = walk.accepted.select(places).expanded()
        numbers = walk.numbers[places]
        found.networks.values[numbers], found.networks.kept[numbers] = full.values, full.kept
