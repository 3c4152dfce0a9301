"""How specialists become a population: as whole networks, behind slot masks, or as the small networks slots are.

A specialist that keeps to its slot is a small network inside a large one. When every hidden layer divides evenly
among the classes, only the small one is trained, from the large one's initial weights, and put back into its
place: the same network for a fraction of the work.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..nets import ARCHITECTURES, NetSpec, build_net
from ..population import Population
from ..prune import slot_masks
from .blueprint import Blueprint, Packed, State, pack
from .class_sets import ClassSet

Member = tuple[int, ClassSet]
"""Seed and rewarded classes."""


class WholeNetworks:
    """Members train as networks of the full architecture."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self.net = blueprint.net

    def prepare(self, population: Population, members: Sequence[Member]) -> None:
        """Give the population what its members start with."""

    def packed(self, population: Population, place: int, ids: ClassSet) -> dict[str, Packed]:
        """Return what a trained member keeps, as a network of the full architecture."""
        params = {
            name: pack(t[place], _row(population.masks, name, place)) for name, t in population.params.items()
        }
        return params | {name: pack(t[place]) for name, t in population.buffers.items()}


class MaskedSlots(WholeNetworks):
    """Members train as networks of the full architecture, of which masks leave them their slots."""

    def __init__(self, blueprint: Blueprint) -> None:
        super().__init__(blueprint)
        self._slots: dict[ClassSet, State] = {}

    def slot(self, ids: ClassSet) -> State:
        """Return which entries of every tensor are in the slot of some classes."""
        if ids not in self._slots:
            with torch.device("meta"):
                shapes = self.blueprint.builder().state_dict()
            # Only shapes matter; these take no memory.
            tensors = {name: torch.zeros(()).expand(tensor.shape) for name, tensor in shapes.items()}
            self._slots[ids] = slot_masks(tensors, ids, len(self.blueprint.classes))
        return self._slots[ids]

    def prepare(self, population: Population, members: Sequence[Member]) -> None:
        """Mask everything but the members' slots."""
        population.set_masks(
            {name: torch.stack([self.slot(ids)[name] for _, ids in members]) for name in population.params}
        )

    def packed(self, population: Population, place: int, ids: ClassSet) -> dict[str, Packed]:
        """Return what a trained member keeps; of batch-norm statistics, those of its own units."""
        statistics = {name: pack(t[place], self.slot(ids)[name]) for name, t in population.buffers.items()}
        return super().packed(population, place, ids) | statistics


class SmallSlots(MaskedSlots):
    """Members train as the small networks that their slots are."""

    def __init__(self, blueprint: Blueprint, net: NetSpec) -> None:
        super().__init__(blueprint)
        self.net = net

    def prepare(self, population: Population, members: Sequence[Member]) -> None:
        """Let the members start from their slots in the initial weights of the full network."""
        classes = len(self.blueprint.classes)
        starts = {
            seed: build_net(self.blueprint.net, self.blueprint.input_shape, classes, seed=seed).state_dict()
            for seed, _ in members
        }
        population.start_from(
            {
                # A slot is whole rows by whole columns, so what it keeps is the small tensor, row by row.
                name: torch.stack(
                    [starts[seed][name][self.slot(ids)[name]] for seed, ids in members]
                ).reshape(t.shape)
                for name, t in {**population.params, **population.buffers}.items()
            }
        )

    def packed(self, population: Population, place: int, ids: ClassSet) -> dict[str, Packed]:
        """Return what a trained member keeps, in its place in the full network."""
        slot = self.slot(ids)
        packed = {}
        for name, tensor in {**population.params, **population.buffers}.items():
            small = (
                population.masks[name][place]
                if name in population.masks
                else torch.ones_like(tensor[place]).bool()
            )
            packed[name] = pack(put_back(tensor[place].cpu(), slot[name]), put_back(small.cpu(), slot[name]))
        return packed


def layouts(
    blueprint: Blueprint, members: Sequence[Member], *, slots: bool
) -> list[tuple[WholeNetworks, list[Member]]]:
    """Return how to train members, and which together: all of them, but small networks by their size."""
    everyone = list(members)
    if not everyone:
        return []
    if not slots:
        return [(WholeNetworks(blueprint), everyone)]
    small = {len(ids): slot_net(blueprint.net, len(ids), len(blueprint.classes)) for _, ids in everyone}
    if None in small.values():
        return [(MaskedSlots(blueprint), everyone)]
    return [
        (SmallSlots(blueprint, net), [member for member in everyone if len(member[1]) == size])
        for size, net in small.items()
        if net is not None
    ]


def slot_net(net: NetSpec, owned: int, classes: int) -> NetSpec | None:
    """Return the small network that a slot of ``owned`` of ``classes`` shares is, or None if there is none.

    Examples
    --------
    >>> str(slot_net(NetSpec.parse("mlp:500-100"), 2, 10)), slot_net(NetSpec.parse("mlp:512"), 2, 10)
    ('mlp:100-20', None)
    """
    if not ARCHITECTURES[net.name].sizes_mean or any(size % classes for size in net.sizes):
        return None
    return NetSpec(net.name, tuple(size // classes * owned for size in net.sizes), net.options)


def put_back(small: Tensor, slot: Tensor) -> Tensor:
    """Return the large tensor that has a small one in its slot, and zeros elsewhere.

    Examples
    --------
    >>> put_back(torch.tensor([[5.0]]), torch.tensor([[False, True], [False, False]]))
    tensor([[0., 5.],
            [0., 0.]])
    """
    large = torch.zeros(slot.shape, dtype=small.dtype)
    large[slot] = small.flatten()
    return large


def _row(masks: State, name: str, place: int) -> Tensor | None:
    return masks[name][place] if name in masks else None
