"""Slots: give each owner a share of every hidden layer, so that owners' networks add up without meeting."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping

import torch

from ..errors import ShapeError, SpecError
from ..graph.chain import Layer, find_layers


def slot_masks(
    tensors: Mapping[str, torch.Tensor], owner: int | Collection[int], owners: int
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
        Number of the owner, from 0, or the numbers of several.
    owners
        Number of owners that share the network.

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
    chosen = _checked_owners(owner, owners)
    layers = find_layers(tensors)
    slots: dict[str, torch.Tensor] = {}
    for number, layer in enumerate(layers):
        last = number == len(layers) - 1
        rows = torch.ones(layer.units, dtype=torch.bool) if last else _slot(layer, chosen)
        columns = _input_slot(layer, layers[:number], chosen)
        slots[layer.weight] = rows[:, None] & columns
        slots |= dict.fromkeys(layer.vectors, rows)

    masks: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        if name not in slots and tensor.dim():
            raise ShapeError(
                f"{name!r} {tuple(tensor.shape)} belongs to no layer, so it cannot be shared out in slots"
            )
        # One number a network, such as batch norm's count of batches, is everybody's.
        slot = slots.get(name, torch.ones((), dtype=torch.bool)).to(tensor.device)
        kernel = (1,) * (tensor.dim() - slot.dim())
        masks[name] = slot.reshape((*slot.shape, *kernel)).expand(tensor.shape).contiguous()
    return masks


def _checked_owners(owner: int | Collection[int], owners: int) -> torch.Tensor:
    """Return which owners' shares a network has, ``[owners]``."""
    if owners < 1:
        raise SpecError(f"a network is shared by at least one owner; got owners={owners}")
    chosen = torch.zeros(owners, dtype=torch.bool)
    for number in owner if isinstance(owner, Iterable) and not _is_scalar(owner) else [owner]:
        try:
            owned = operator.index(number)  # type: ignore[arg-type]
        except TypeError:
            owned = -1
        if not 0 <= owned < owners:
            raise SpecError(
                f"an owner must be one of 0 to {owners - 1} of the {owners} owners; got {number!r:.80}"
            )
        chosen[owned] = True
    if not chosen.any():
        raise SpecError(f"a slot needs at least one owner; got {owner!r:.80}")
    return chosen


def _is_scalar(value: object) -> bool:
    """Whether a tensor or array is one number, which cannot be iterated over."""
    return getattr(value, "ndim", 1) == 0


def _slot(layer: Layer, chosen: torch.Tensor) -> torch.Tensor:
    """Return which units of a layer are in the slot."""
    owners = len(chosen)
    if layer.units < owners:
        raise ShapeError(
            f"{layer.weight!r} has {layer.units} units, fewer than the {owners} that share them; "
            f"make the layer at least {owners} wide"
        )
    # The owner i of unit u is the one with floor(i h / n) <= u < floor((i + 1) h / n).
    return chosen[((torch.arange(layer.units) + 1) * owners - 1) // layer.units]


def _input_slot(layer: Layer, earlier: list[Layer], chosen: torch.Tensor) -> torch.Tensor:
    """Return which inputs of a layer come from the slot; of the first layer, all."""
    if not earlier:
        return torch.ones(layer.inputs, dtype=torch.bool)
    # Latest first. The layer just before it in a chain; for a residual shortcut an older one of that width,
    # and widths decide the slots, so it does not matter which.
    for source in reversed(earlier):
        positions = layer.positions_after(source)
        if positions is not None:
            return _slot(source, chosen).repeat_interleave(positions)
    raise ShapeError(
        f"{layer.weight!r} takes {layer.inputs} inputs, which are the units of no layer before it; "
        f"slots need to know where a layer's inputs come from"
    )
