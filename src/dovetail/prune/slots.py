"""Slots: give each owner a share of every hidden layer, so that owners' networks add up without meeting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from ..errors import ShapeError, SpecError
from .layers import Layer, find_layers


def slot_masks(
    tensors: Mapping[str, torch.Tensor],
    owner: int | Sequence[int],
    owners: int,
    *,
    population: bool = False,
) -> dict[str, torch.Tensor]:
    """Return masks that keep one owner's share of every hidden layer.

    Owner i of n has the units from floor(i h / n) up to floor((i + 1) h / n) of a hidden layer of h units.
    Between hidden layers only connections inside the slot are kept. All slots see all inputs and feed all
    outputs; an output bias is kept whole. Networks with different owners share no hidden parameter, so the
    sum of their weights computes the sum of their logits.

    Parameters
    ----------
    tensors
        The network's parameters in order. Batch-norm statistics may be among them; they are split as well.
        Residual shortcuts are fine; grouped convolutions are not, as their shapes hide what they read.
    owner
        Number of the owner, from 0. For a population a sequence, one for each member.
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
            rows = _slot(layer, chosen, owners)
        columns = _whole(chosen, layer.inputs)
        if number > 0:
            columns = _input_slot(layer, layers[:number], chosen, owners)
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
    tensors: Mapping[str, torch.Tensor], owner: int | Sequence[int], owners: int, population: bool
) -> torch.Tensor:
    """Return the owners as a column ``[members, 1]``."""
    if isinstance(owner, int) == population:
        form = "a sequence of owners, one for each member," if population else "one owner"
        raise SpecError(f"give {form} as whole numbers from 0; got {owner!r:.80}")
    numbers = [owner] if isinstance(owner, int) else [int(number) for number in owner]
    for number in numbers:
        if not 0 <= number < owners:
            raise SpecError(f"an owner must be one of 0 to {owners - 1} of the {owners} owners; got {number}")
    for name, tensor in tensors.items():
        if population and tensor.shape[:1] != (len(numbers),):
            raise ShapeError(
                f"{len(numbers)} owners for a population whose {name!r} is {tuple(tensor.shape)}"
            )
    return torch.tensor(numbers)[:, None]


def _whole(chosen: torch.Tensor, size: int) -> torch.Tensor:
    return torch.ones(len(chosen), size, dtype=torch.bool)


def _slot(layer: Layer, chosen: torch.Tensor, owners: int) -> torch.Tensor:
    """Return which units of a layer each chosen owner has, ``[members, units]``."""
    if layer.units < owners:
        raise ShapeError(
            f"{layer.weight!r} has {layer.units} units, too few for {owners} owners; "
            f"make the layer at least {owners} wide"
        )
    units = torch.arange(layer.units)
    return (units >= chosen * layer.units // owners) & (units < (chosen + 1) * layer.units // owners)


def _input_slot(layer: Layer, earlier: list[Layer], chosen: torch.Tensor, owners: int) -> torch.Tensor:
    """Return which inputs of a layer come from the slots of each chosen owner, ``[members, inputs]``."""
    # Latest first. The layer just before it in a chain; for a residual shortcut an older one of that width,
    # and widths decide the slots, so it does not matter which.
    for source in reversed(earlier):
        positions = layer.positions_after(source)
        if positions is not None:
            return _slot(source, chosen, owners).repeat_interleave(positions, dim=1)
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
