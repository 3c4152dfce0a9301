"""How specialists become a population: as whole networks, behind slot masks, or as the small networks slots are.

A specialist that keeps to its slot is a small network inside a large one. Only the small one is trained, from the large
one's initial weights, and put back into its place: the same network for a fraction of the work. Networks whose layers
have no sizes of their own in the spec train whole, behind masks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

import torch
from torch import Tensor

from ..errors import ShapeError
from ..nets import ARCHITECTURES, Net, NetSpec, OwnNet, builder_of
from ..nets.own import Build
from ..population import Population
from ..prune import slot_masks
from ..prune.network_slots import NetworkSlots
from .blueprint import Blueprint, Packed, State, pack
from .class_sets import ClassSet

Member = tuple[int, ClassSet]
"""Seed and rewarded classes."""


class Trained(Protocol):
    """Stacked tensors of members that have been trained: a population, or those that it is done with."""

    @property
    def params(self) -> State:
        """Their parameters ``[members, ...]``."""

    @property
    def buffers(self) -> State:
        """Their buffers."""

    @property
    def masks(self) -> State:
        """Their masks, where there are any."""


class WholeNetworks:
    """Members train as networks of the full architecture."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self.net = blueprint.net

    def prepare(self, population: Population, members: Sequence[Member]) -> None:
        """Give the population what its members start with."""

    def packed(self, trained: Trained, place: int, ids: ClassSet) -> dict[str, Packed]:
        """Return what a trained member keeps, as a network of the full architecture."""
        params = {
            name: pack(t[place], _row(trained.masks, name, place)) for name, t in trained.params.items()
        }
        return params | {name: pack(t[place]) for name, t in trained.buffers.items()}


class MaskedSlots(WholeNetworks):
    """Members train as networks of the full architecture, of which masks leave them their slots."""

    def __init__(self, blueprint: Blueprint) -> None:
        super().__init__(blueprint)
        self._slots: dict[ClassSet, State] = {}

    def slot(self, ids: ClassSet) -> State:
        """Return which entries of every tensor are in the slot of some classes."""
        if _is_followed(self.blueprint.net):
            if ids not in self._slots:
                self._slots[ids] = _network_slots(self.blueprint, self.blueprint.code).masks(ids)
            return self._slots[ids]
        if ids not in self._slots:
            with torch.device("meta"):
                shapes = self.blueprint.builder().state_dict()
            # Only shapes matter; these take no memory.
            tensors = {name: torch.zeros(()).expand(tensor.shape) for name, tensor in shapes.items()}
            try:
                self._slots[ids] = slot_masks(tensors, ids, len(self.blueprint.classes))
            except ShapeError as error:
                raise ShapeError(
                    f"in slots each of the {len(self.blueprint.classes)} classes has units of its own in every hidden "
                    f"layer, but {error}, or train without slots"
                ) from None
        return self._slots[ids]

    def prepare(self, population: Population, members: Sequence[Member]) -> None:
        """Mask everything but the members' slots."""
        population.set_masks(
            {name: torch.stack([self.slot(ids)[name] for _, ids in members]) for name in population.params}
        )

    def packed(self, trained: Trained, place: int, ids: ClassSet) -> dict[str, Packed]:
        """Return what a trained member keeps; of batch-norm statistics, those of its own units."""
        statistics = {name: pack(t[place], self.slot(ids)[name]) for name, t in trained.buffers.items()}
        return super().packed(trained, place, ids) | statistics


def _is_followed(net: Net) -> bool:
    """Whether its slots are found by following what it computes, because shapes do not tell them."""
    return isinstance(net, OwnNet) or not ARCHITECTURES[net.name].shapes_tell


@lru_cache(maxsize=16)
def _network_slots(blueprint: Blueprint, code: Build | None) -> NetworkSlots:
    """Return whose the tensors of a network are, found by following what it computes."""
    network, example = blueprint.builder(0), torch.zeros(2, *blueprint.input_shape)
    name = None if isinstance(blueprint.net, OwnNet) else str(blueprint.net)
    return NetworkSlots(network, example, len(blueprint.classes), name)


class SmallSlots(MaskedSlots):
    """Members train as the small networks that their slots are, padded where a layer does not divide evenly.

    Of a layer of h units a slot of one of n classes has h / n, rounded down or up. The small network has as many as
    the largest slot; those that a member's own slot lacks are masked. So all members have one shape, and draw their
    noise alike, whether or not h is a multiple of n.
    """

    def __init__(self, blueprint: Blueprint, net: NetSpec) -> None:
        super().__init__(blueprint)
        self.net = net

    def prepare(self, population: Population, members: Sequence[Member]) -> None:
        """Let the members start from their slots in the initial weights of the full network."""
        classes = len(self.blueprint.classes)
        starts = {
            seed: builder_of(self.blueprint.net, self.blueprint.input_shape, classes)(seed).state_dict()
            for seed, _ in members
        }
        tensors = {**population.params, **population.buffers}
        population.start_from(
            {
                name: torch.stack(
                    [
                        self._padded(starts[seed][name], ids, name, t[place])
                        for place, (seed, ids) in enumerate(members)
                    ]
                )
                for name, t in tensors.items()
            }
        )
        masks = {
            name: torch.stack([self._own(ids, name, t[0]) for _, ids in members])
            for name, t in population.params.items()
        }
        if not all(bool(mask.all()) for mask in masks.values()):
            population.set_masks(masks)

    def packed(self, trained: Trained, place: int, ids: ClassSet) -> dict[str, Packed]:
        """Return what a trained member keeps, in its place in the full network."""
        slot = self.slot(ids)
        packed = {}
        for name, tensor in {**trained.params, **trained.buffers}.items():
            own = self._own(ids, name, tensor[place])
            kept = _row(trained.masks, name, place)
            kept = own if kept is None else kept.cpu()
            packed[name] = pack(
                put_back(tensor[place].cpu()[own], slot[name]), put_back(kept[own], slot[name])
            )
        return packed

    def _own(self, ids: ClassSet, name: str, small: Tensor) -> Tensor:
        """Return which entries of a tensor of the small network a member's slot has: its first rows and columns."""
        slot = self.slot(ids)[name]
        own = torch.zeros(small.shape, dtype=torch.bool)
        # A slot is whole rows by whole columns; a number that belongs to no unit is everybody's.
        rows = int(slot.flatten(1).any(1).sum()) if slot.dim() > 1 else int(slot.sum())
        if slot.dim() > 1:
            columns = int(slot.transpose(0, 1).flatten(1).any(1).sum())
            own[:rows, :columns] = True
        elif slot.dim():
            own[:rows] = True
        else:
            own.fill_(True)
        return own

    def _padded(self, full: Tensor, ids: ClassSet, name: str, like: Tensor) -> Tensor:
        """Return a member's part of a tensor of the full network as one of the small network."""
        padded = like.cpu().clone()
        # A slot keeps its entries in their order, row by row, as the small tensor does.
        padded[self._own(ids, name, like)] = full[self.slot(ids)[name]].flatten().to(padded.dtype)
        return padded


def layouts(
    blueprint: Blueprint, members: Sequence[Member], *, slots: bool
) -> list[tuple[WholeNetworks, list[Member]]]:
    """Return how to train members, and which together: all of them, but small networks by their size."""
    everyone = list(members)
    if not everyone:
        return []
    if not slots:
        return [(WholeNetworks(blueprint), everyone)]
    if _is_followed(blueprint.net):
        _network_slots(blueprint, blueprint.code)  # says what stands in the way, if anything
    small = {len(ids): slot_net(blueprint.net, len(ids), len(blueprint.classes)) for _, ids in everyone}
    if None in small.values():
        return [(MaskedSlots(blueprint), everyone)]
    return [
        (SmallSlots(blueprint, net), [member for member in everyone if len(member[1]) == size])
        for size, net in small.items()
        if net is not None
    ]


def slot_net(net: Net, owned: int, classes: int) -> NetSpec | None:
    """Return the small network that holds any slot of ``owned`` of ``classes`` shares, or None if there is none.

    Examples
    --------
    >>> str(slot_net(NetSpec.parse("mlp:500-100"), 2, 10)), str(slot_net(NetSpec.parse("mlp:512"), 2, 10))
    ('mlp:100-20', 'mlp:104')
    """
    if (
        isinstance(net, OwnNet)
        or not ARCHITECTURES[net.name].sizes_mean
        or any(size < classes for size in net.sizes)
    ):
        return None
    counts = {name: int(net[name]) for name in ARCHITECTURES[net.name].shared}
    if any(count % classes for count in counts.values()):
        return None
    options = {**dict(net.options), **{name: count // classes * owned for name, count in counts.items()}}
    return NetSpec(net.name, tuple(-(-size // classes) * owned for size in net.sizes), tuple(options.items()))


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
