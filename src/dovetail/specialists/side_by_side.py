"""Side by side: slots of different teams in one network, each specialist with hidden units of its own.

Specialists that agree on a network and a class list have their slots in the same places. Those of teams that agree on
neither would overlap, so each is taken out of its network as the small network that it is, and these are put next to
each other: block-diagonal weights, wider layers, outputs by name. What it computes is the sum of their logits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from ..errors import MisfitError
from ..graph.chain import find_layers
from ..nets import ARCHITECTURES, Net, NetSpec
from ..prune import slot_masks
from .blueprint import Blueprint, Packed, State, pack
from .class_lists import Places

if TYPE_CHECKING:
    from .specialist import Specialist


class Small(NamedTuple):
    """A slot as a network of its own: its tensors, which of their entries are kept, and the sizes of its layers."""

    state: State
    masks: State
    sizes: tuple[int, ...]


def has_sizes(net: Net) -> bool:
    """Whether a network has sizes that slots can be cut from and put together to.

    Examples
    --------
    >>> has_sizes(NetSpec.parse("mlp:20")), has_sizes(NetSpec.parse("resnet18"))
    (True, False)
    """
    if not isinstance(net, NetSpec):
        return False
    architecture = ARCHITECTURES[net.name]
    return bool(architecture.sizes_mean) and architecture.most_sizes is None  # one for each layer


def go_side_by_side(first: Net, second: Net) -> bool:
    """Whether slots of two networks can stand side by side: both have as many layers, with the same options.

    Examples
    --------
    >>> go_side_by_side(NetSpec.parse("mlp:20"), NetSpec.parse("mlp:48"))
    True
    """
    return (
        isinstance(first, NetSpec)
        and isinstance(second, NetSpec)
        and has_sizes(first)
        and (first.name, first.options, len(first.sizes)) == (second.name, second.options, len(second.sizes))
    )


def small_network(part: Specialist) -> Small:
    """Return the small network that a specialist is in its slot, with all its outputs."""
    blueprint = part.blueprint
    shapes = {name: torch.zeros(()).expand(packed.shape) for name, packed in part.weights.items()}
    slot = slot_masks(shapes, part.rewarded, len(blueprint.classes))
    state, masks, sizes = {}, {}, []
    for name, packed in part.weights.items():
        own = slot[name]
        shape = _small_shape(own)
        if packed.positions is not None and packed.kept == math.prod(shape):  # nothing in the slot was pruned
            state[name], masks[name] = packed.values.reshape(shape), torch.ones(shape, dtype=torch.bool)
        else:
            state[name], masks[name] = packed.dense()[own].reshape(shape), packed.mask()[own].reshape(shape)
        if own.dim() > 1:
            sizes.append(shape[0])
    return Small(state, masks, tuple(sizes[:-1]))


def _small_shape(own: Tensor) -> tuple[int, ...]:
    if own.dim() < 2:
        return (int(own.sum()),) if own.dim() else ()
    rows = int(own.flatten(1).any(1).sum())
    columns = int(own.transpose(0, 1).flatten(1).any(1).sum())
    return (rows, columns, *own.shape[2:])


def wider_net(net: Net, sizes: Sequence[Sequence[int]]) -> NetSpec:
    """Return the network with room for small ones of these sizes.

    Examples
    --------
    >>> str(wider_net(NetSpec.parse("mlp:20-10"), [(2, 1), (3, 2)]))
    'mlp:5-3'
    """
    assert isinstance(net, NetSpec)
    return NetSpec(net.name, tuple(sum(each) for each in zip(*sizes, strict=True)), net.options)


def side_by_side(smalls: Sequence[Small], places: Sequence[Places]) -> tuple[State, State]:
    """Return the tensors of the network that has small ones next to each other, and which entries are kept.

    Parameters
    ----------
    smalls : sequence of Small
        The small networks.
    places : sequence of Places
        Where the outputs of each go.
    """
    layers = find_layers(smalls[0].state)
    first, last = layers[0].weight, layers[-1]
    outputs = {last.weight, *last.vectors}
    state, masks = {}, {}
    for name, like in smalls[0].state.items():
        tensors, kept = [small.state[name] for small in smalls], [small.masks[name] for small in smalls]
        if name in outputs:
            tensors = [place.rows(tensor) for place, tensor in zip(places, tensors, strict=True)]
            kept = [place.kept(mask) for place, mask in zip(places, kept, strict=True)]
        if not like.dim():  # batch norm's count of batches
            state[name], masks[name] = torch.stack(tensors).amax(0), kept[0]
        elif name == last.weight and name != first:
            state[name], masks[name] = torch.cat(tensors, 1), torch.cat(kept, 1)
        elif name in outputs:
            state[name], masks[name] = torch.stack(tensors).sum(0), torch.stack(kept).any(0)
        elif name == first or like.dim() == 1:
            state[name], masks[name] = torch.cat(tensors), torch.cat(kept)
        else:
            state[name], masks[name] = _diagonal(tensors), _diagonal(kept)
    return state, masks


def _diagonal(tensors: Sequence[Tensor]) -> Tensor:
    """Return the block-diagonal tensor, over the first two axes."""
    rows, columns = (sum(tensor.shape[axis] for tensor in tensors) for axis in (0, 1))
    joined = tensors[0].new_zeros(rows, columns, *tensors[0].shape[2:])
    row = column = 0
    for tensor in tensors:
        joined[row : row + tensor.shape[0], column : column + tensor.shape[1]] = tensor
        row, column = row + tensor.shape[0], column + tensor.shape[1]
    return joined


def in_slot_of(small: Small, places: Places, blueprint: Blueprint, own: Sequence[int]) -> dict[str, Packed]:
    """Return a small network in the slot of some classes of another network: the same part over another class list.

    Parameters
    ----------
    small : Small
        The small network.
    places : Places
        Where its outputs go in the other class list.
    blueprint : Blueprint
        The other network. Its slot may be larger; what the small network lacks is not kept.
    own : sequence of int
        The classes whose slot it gets, in the other class list.

    Raises
    ------
    MisfitError
        When the slot is too small.
    """
    with torch.device("meta"):
        shapes = {name: tensor.shape for name, tensor in blueprint.builder().state_dict().items()}
    slot = slot_masks(
        {name: torch.zeros(()).expand(shape) for name, shape in shapes.items()}, own, len(blueprint.classes)
    )
    state, masks = side_by_side([small], [places])
    packed = {}
    for name, tensor in state.items():
        room = _small_shape(slot[name])
        if any(size > most for size, most in zip(tensor.shape, room, strict=True)):
            raise MisfitError(
                f"a slot of {blueprint.net} has room for {room} of {name!r}, not for {tuple(tensor.shape)}"
            )
        packed[name] = pack(*(_put(one, room, slot[name]) for one in (tensor, masks[name])))
    return packed


def _put(small: Tensor, room: tuple[int, ...], slot: Tensor) -> Tensor:
    """Return the large tensor that has a small one in the first rows and columns of a slot."""
    padded = small.new_zeros(room)
    padded[tuple(slice(size) for size in small.shape)] = small
    large = small.new_zeros(slot.shape)
    large[slot] = padded.flatten()
    return large
