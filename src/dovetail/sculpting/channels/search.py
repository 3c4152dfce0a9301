"""A search in networks of any kind: units go, then edges, as long as the task is done, for many networks in lockstep.

It is the search for perceptrons (`pruning.search`) on a `Population`, whose networks may have convolutions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal

import torch
from torch import Tensor

from ...data.dataset import Dataset
from ...population import Adam, Population
from ...population.objectives import ACCURACIES, OBJECTIVES, Objective
from ...prune.percentile import above_percentile
from .units import UnitChain

Phase = Literal["dense", "units", "edges"]


@dataclass(frozen=True)
class PruningStep:
    """A step of pruning after which the task was still done.

    Attributes
    ----------
    phase : {"dense", "units", "edges"}
        What was pruned.
    round : int
        In which round of its phase, from 1; more trainings than steps were accepted.
    units, edges : int
        Hidden units that have edges, and edges, that were left.
    accuracy : float
        Share of bits or classes of the validation split that the network got right; of values R², the share of their
        variance that it explains.
    loss : float
        Its mean loss there.
    """

    phase: Phase
    round: int
    units: int
    edges: int
    accuracy: float
    loss: float


@dataclass(frozen=True)
class Training:
    """How networks are trained for a task, and how they are scored.

    Attributes
    ----------
    data : Dataset
        The task.
    epochs, batch_size : int
        Of every training.
    optimizer : Adam
        A fresh one each time.
    """

    data: Dataset
    epochs: int
    batch_size: int
    optimizer: Adam

    @property
    def loss(self) -> Objective:
        """The loss of each sample."""
        return OBJECTIVES[self.data.task]

    @property
    def accuracy(self) -> Objective:
        """What a network is judged by, for each sample."""
        if self.data.task != "values":
            return ACCURACIES[self.data.task]
        spread = self.data.val.y.double().var(0, correction=0).mean().item()

        def explained(values: Tensor, target: Tensor) -> Tensor:
            return 1 - ((values - target) ** 2).mean(1) / spread

        return explained

    def __call__(self, population: Population, stream: int) -> tuple[Tensor, Tensor]:
        """Train all members; return each one's accuracy and loss in its best epoch, whose weights it has then."""
        history = population.fit(
            self.data, epochs=self.epochs, batch_size=self.batch_size, optimizer=self.optimizer,
            metrics={"accuracy": self.accuracy}, monitor="accuracy", stream=stream, progress=False,
        )  # fmt: skip
        epoch = history.kept_epoch.clamp(min=0)
        scores = [
            history[name].gather(0, epoch[None])[0].masked_fill(history.kept_epoch < 0, worst)
            for name, worst in (("accuracy", -torch.inf), ("loss", torch.inf))
        ]
        return scores[0], scores[1]


@dataclass
class Members:
    """Networks that do the task, the edges that each has kept, and the steps to it."""

    population: Population
    kept: list[Tensor]
    steps: list[list[PruningStep]]

    def forked(self, seeds: Sequence[int], places: Tensor) -> Members:
        """Return copies of members, with seeds of their own for order and noise."""
        chosen = self.population.select(places)
        chosen.seeds = tuple(seeds)
        return Members(
            chosen, [edges[places] for edges in self.kept], [list(self.steps[n]) for n in places.tolist()]
        )

    def units_left(self) -> Tensor:
        """Return how many hidden units of each member have edges."""
        there = [a.any(2) | b.any(1) for a, b in zip(self.kept, self.kept[1:], strict=False)]
        return torch.cat(there, 1).sum(1)

    def edges_left(self) -> Tensor:
        """Return how many edges each member has."""
        return torch.stack([edges.flatten(1).sum(1) for edges in self.kept]).sum(0)


def prune_units(members: Members, chain: UnitChain, shares: Tensor, training: Training) -> list[Tensor]:
    """Return the edges that are kept when only the hidden units above a percentile of all, by sensitivity, stay."""
    population = members.population
    scores = torch.stack([
        chain.sensitivity(population.member(place), training.data.val.to(population.device), training.loss)
        for place in range(len(population))
    ])  # fmt: skip
    stays = above_percentile(scores, shares, chain.hidden).split(chain.sizes[1:-1], 1)
    kept = [edges.clone() for edges in members.kept]
    for place, units in enumerate(stays):
        kept[place] &= units[:, :, None]
        kept[place + 1] &= units[:, None, :]
    return kept


def prune_edges(members: Members, chain: UnitChain, shares: Tensor, training: Training) -> list[Tensor]:
    """Return the edges that are kept when only those above a percentile of all, by length, stay."""
    lengths = [length.cpu() for length in chain.lengths(members.population.params)]
    stays = above_percentile(torch.cat([length.flatten(1) for length in lengths], 1), shares, chain.edges)
    split = stays.split([length[0].numel() for length in lengths], 1)
    return [kept & part.view(kept.shape) for kept, part in zip(members.kept, split, strict=True)]


_WAYS = {"units": prune_units, "edges": prune_edges}


def search(
    members: Members,
    phase: Literal["units", "edges"],
    steps: Sequence[float],
    chain: UnitChain,
    training: Training,
    enough: float,
    *,
    stream: int,
    on_round: Callable[[int], None],
) -> None:
    """Prune every member as far as it goes, in place.

    Parameters
    ----------
    members : Members
        Trained networks that do the task.
    phase : {"units", "edges"}
        What to prune.
    steps : sequence of float
        The share of units or edges that each member prunes at first. A step after which the task is not done is halved,
        down to a single unit or edge.
    chain : UnitChain
        Units and edges of the networks.
    training : Training
        How they train after every step.
    enough : float
        The accuracy from which on the task is done.
    stream : int
        The random stream of the first round; the next round takes the next one.
    on_round : callable
        Called after every round with how many members ended in it.
    """
    total = chain.hidden if phase == "units" else chain.edges
    smallest = 1 / total
    step = torch.tensor(steps, dtype=torch.float64).clamp(min=smallest)
    left = members.units_left() if phase == "units" else members.edges_left()
    shares = 1 - left.double() / total
    going = torch.arange(len(step))
    for number in count(1):
        if not len(going):
            return
        tried = (shares[going] + step[going]).clamp(max=1)
        some = members.forked([members.population.seeds[n] for n in going.tolist()], going)
        kept = _WAYS[phase](some, chain, tried, training)
        # Where as many units or edges tie, a step may prune none, and needs no training.
        done = torch.stack(
            [(new == old).flatten(1).all(1) for new, old in zip(kept, some.kept, strict=True)]
        ).all(0)
        if not done.all():
            places = (~done).nonzero().flatten()
            some = some.forked([some.population.seeds[n] for n in places.tolist()], places)
            some.kept = [edges[places] for edges in kept]
            some.population.set_masks(chain.masks(some.kept, some.population.params))
            accuracy, loss = training(some.population, stream + number)
            well = (accuracy >= enough - 1e-12) & loss.isfinite()
            columns = (well, some.units_left(), some.edges_left(), accuracy, loss)
            for member, accepted, *values in zip(
                *(c.tolist() for c in (going[places], *columns)), strict=True
            ):
                if accepted:
                    members.steps[member].append(PruningStep(phase, number, *values))
            _accept(members, some, going[places], well)
            done[places] = well
        # Where all was asked for, nothing is left to ask; where one was too much, nothing less can be.
        ending = torch.where(done, tried >= 1, step[going] <= smallest)
        shares[going] = torch.where(done, tried, shares[going])
        step[going] = torch.where(done, step[going], (step[going] / 2).clamp(min=smallest))
        going = going[~ending]
        on_round(int(ending.sum()))


def _accept(members: Members, tried: Members, going: Tensor, done: Tensor) -> None:
    """Let the members that did the task become what they were tried as."""
    places = done.nonzero().flatten()
    for name in ("params", "buffers", "masks"):
        whole, some = getattr(members.population, name), getattr(tried.population, name)
        for key in some:
            whole[key][going[places]] = some[key][places]
    for edges, pruned in zip(members.kept, tried.kept, strict=True):
        edges[going[places]] = pruned[places]
