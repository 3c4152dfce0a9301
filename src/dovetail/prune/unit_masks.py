"""Weight masks for pruned units: without a unit, its incoming and its outgoing weights go too."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from ..errors import ShapeError, unknown_name
from ..graph.layers import layer_chain


def mask_units(
    tensors: Mapping[str, torch.Tensor],
    kept: Mapping[str, torch.Tensor],
    layers: Mapping[str, str] | None = None,
    *,
    population: bool = False,
) -> dict[str, torch.Tensor]:
    """Return masks in which the rows and columns of pruned units are cleared.

    A unit's row is its incoming weights, its bias and its batch-norm entries; its columns are its outgoing
    weights in the next layer (all positions of a channel where feature maps are flattened).

    Parameters
    ----------
    tensors
        Masks to prune further, in the order of the network's parameters. Tensors that are not boolean only
        give shapes: their masks start whole.
    kept
        Which units stay, ``[units]`` for each layer, as `prune_units` returns it.
    layers
        Weight name for each layer name of `kept`; by default the layers are called by their weights.
    population
        Whether the tensors have a leading member dimension.

    Raises
    ------
    ShapeError
        When the layers do not form a chain, or `kept` does not fit a layer.

    Examples
    --------
    >>> net = {"hidden": torch.zeros(2, 3), "bias": torch.zeros(2), "output": torch.zeros(1, 2)}
    >>> mask_units(net, {"hidden": torch.tensor([True, False])})
    {'hidden': tensor([[ True,  True,  True],
            [False, False, False]]), 'bias': tensor([ True, False]), 'output': tensor([[ True, False]])}
    """
    chain = layer_chain(tensors, population=population)
    place = {layer.weight: number for number, layer in enumerate(chain)}
    masks = {
        name: tensor.clone() if tensor.dtype == torch.bool else torch.ones_like(tensor, dtype=torch.bool)
        for name, tensor in tensors.items()
    }
    unit_dim = 1 if population else 0
    for name, stays in kept.items():
        weight = name if layers is None else layers.get(name, name)
        if weight not in place:
            raise unknown_name("layer", weight, place)
        layer = chain[place[weight]]
        if stays.dtype != torch.bool or stays.shape != masks[weight].shape[: unit_dim + 1]:
            raise ShapeError(
                f"the units kept of {name!r} must be torch.bool, one for each of its {layer.units} units"
                f"{' and members' if population else ''}; got {stays.dtype} {tuple(stays.shape)}"
            )
        for row in (weight, *layer.vectors):
            masks[row] &= _along(stays, masks[row], unit_dim)
        for after in chain[place[weight] + 1 : place[weight] + 2]:
            columns = stays.repeat_interleave(after.inputs // layer.units, dim=unit_dim)
            masks[after.weight] &= _along(columns, masks[after.weight], unit_dim + 1)
    return masks


def _along(flags: torch.Tensor, mask: torch.Tensor, dim: int) -> torch.Tensor:
    """Shape flags, whose last dimension lies along `dim` of a mask, so that they broadcast over it."""
    members = flags.shape[:-1]
    between = (1,) * (dim - len(members))
    behind = (1,) * (mask.dim() - dim - 1)
    return flags.reshape(*members, *between, flags.shape[-1], *behind)
