"""Slots: give each owner a share of every hidden layer, so that owners' networks add up without meeting."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence

import torch

from ..errors import ShapeError, SpecError
from ..graph.chain import Layer, find_layers


def slot_masks(
    tensors: Mapping[str, torch.Tensor],
    owner: int | Collection[int] | Sequence[int | Collection[int]],
    owners: int,
    *,
    population: bool = False,
) -> dict[str, torch.Tensor]:
    """Return masks that keep one owner's share of every hidden layer.

    Owner i of n has the units from floor(i h / n) up to floor((i + 1) h / n) of a hidden layer of h units.
    Between hidden layers only connections inside the slot are kept. All slots see all inputs and feed all
    outputs; an output bias is kept whole. Networks with different owners share no hidden parameter, so the
    sum of their weights computes the sum of their logits. A network may have the shares of several owners; they
    are then one slot, inside which everything is connected.

    Parameters
    ----------
    tensors
        The network's parameters in order. Batch-norm statistics may be among them; they are split as well.
        Residual shortcuts are fine; grouped convolutions are not, as their shapes hide what they read.
    owner
        Number of the owner, from 0, or the numbers of several. For a population a sequence with that for each
        member.
    owners
        Number of owners that share the network.
    population
        Whether the tensors have a leading member dimension.

    Raises
    ------
    ShapeError
        When a hidden layer has fewer units than there are owners, or a tensor belongs to no layer.
    SpecError
        For an owner that does not exist.

    Examples
    --------
    >>> net = {"hidden": torch.zeros(4, 3), "output": torch.zeros(2, 4)}
    >>> slot_masks(net, owner=1, owners=2)["output"]
    tensor([[False, False,  True,  True],
            [False, False,  True,  True]])
    """
    chosen = _checked_owners(tensors, owner, owners, population)
    layers = find_layers(tensors, population=population)
    slots: dict[str, torch.Tensor] = {}
    for number, layer in enumerate(layers):
        rows = _whole(chosen, layer.units)
        if number < len(layers) - 1:
            rows = _slot(layer, chosen)
        columns = _whole(chosen, layer.inputs)
        if number > 0:
            columns = _input_slot(layer, layers[:number], chosen)
        slots[layer.weight] = rows[:, :, None] & columns[:, None, :]
        slots |= dict.fromkeys(layer.vectors, rows)

    masks: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        slot = slots[name] if name in slots else _whole_scalar(name, tensor, chosen, population)
        slot = slot.to(tensor.device) if population else slot[0].to(tensor.device)
        kernel = (1,) * (tensor.dim() - slot.dim())
        masks[name] = slot.reshape((*slot.shape, *kernel)).expand(tensor.shape).contiguous()
    return masks


def _checked_owners(
    tensors: Mapping[str, torch.Tensor],
    owner: int | Collection[int] | Sequence[int | Collection[int]],
    owners: int,
    population: bool,
) -> torch.Tensor:
    """Return which owners' shares each member has, ``[members, owners]``."""
    if owners < 1:
        raise SpecError(f"a network is shared by at least one owner; got owners={owners}")
    if isinstance(owner, int) and population:
        raise SpecError(f"a population needs a sequence of owners, one for each member; got {owner!r:.80}")
    members = list(owner) if population and not isinstance(owner, int) else [owner]
    chosen = torch.zeros(len(members), owners, dtype=torch.bool)
    for place, member in enumerate(members):
        for number in member if isinstance(member, Iterable) and not _is_scalar(member) else [member]:
            try:
                owned = operator.index(number)  # type: ignore[arg-type]
            except TypeError:
                owned = -1
            if not 0 <= owned < owners:
                raise SpecError(
                    f"an owner must be one of 0 to {owners - 1} of the {owners} owners; got {number!r:.80}"
                )
            chosen[place, owned] = True
    if not chosen.any(dim=1).all():
        raise SpecError(f"a slot needs at least one owner; got {owner!r:.80}")
    for name, tensor in tensors.items():
        if population and tensor.shape[:1] != (len(members),):
            raise ShapeError(
                f"{len(members)} owners for a population whose {name!r} is {tuple(tensor.shape)}"
            )
    return chosen


def _is_scalar(value: object) -> bool:
    """Whether a tensor or array is one number, which cannot be iterated over."""
    return getattr(value, "ndim", 1) == 0


def _whole(chosen: torch.Tensor, size: int) -> torch.Tensor:
    return torch.ones(len(chosen), size, dtype=torch.bool)


def _slot(layer: Layer, chosen: torch.Tensor) -> torch.Tensor:
    """Return which units of a layer are in each member's slot, ``[members, units]``."""
    owners = chosen.shape[1]
    if layer.units < owners:
        raise ShapeError(
            f"{layer.weight!r} has {layer.units} units, too few for {owners} owners; "
            f"make the layer at least {owners} wide"
        )
    # The owner i of unit u is the one with floor(i h / n) <= u < floor((i + 1) h / n).
    owner_of_unit = ((torch.arange(layer.units) + 1) * owners - 1) // layer.units
    return chosen[:, owner_of_unit]


def _input_slot(layer: Layer, earlier: list[Layer], chosen: torch.Tensor) -> torch.Tensor:
    """Return which inputs of a layer come from each member's slot, ``[members, inputs]``."""
    # Latest first. The layer just before it in a chain; for a residual shortcut an older one of that width,
    # and widths decide the slots, so it does not matter which.
    for source in reversed(earlier):
        positions = layer.positions_after(source)
        if positions is not None:
            return _slot(source, chosen).repeat_interleave(positions, dim=1)
    raise ShapeError(
        f"{layer.weight!r} takes {layer.inputs} inputs, which are the units of no layer before it; "
        f"slots need to know where a layer's inputs come from"
    )


def _whole_scalar(name: str, tensor: torch.Tensor, chosen: torch.Tensor, population: bool) -> torch.Tensor:
    """Return the mask of a tensor that holds one number a network, such as batch norm's count of batches."""
    if tensor.dim() > int(population):
        raise ShapeError(
            f"{name!r} {tuple(tensor.shape)} belongs to no layer, so it cannot be shared out in slots"
        )
    return torch.ones(len(chosen), dtype=torch.bool)
