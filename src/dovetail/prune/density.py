"""Density, how much of a network is left: all that is kept, or only what lies on a path from an input to an output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, overload

import torch

from ..errors import ShapeError
from ..graph.chain import layer_chain
from .checks import member_count


@overload
def density(masks: Mapping[str, torch.Tensor], population: Literal[False] = False) -> float: ...
@overload
def density(masks: Mapping[str, torch.Tensor], population: Literal[True]) -> torch.Tensor: ...
@overload
def density(masks: Mapping[str, torch.Tensor], population: bool) -> float | torch.Tensor: ...
def density(masks: Mapping[str, torch.Tensor], population: bool = False) -> float | torch.Tensor:
    """Return the share of entries that are kept; for a population one value for each member.

    Any tensors will do: entries other than zero count as kept.

    Examples
    --------
    >>> density({"w": torch.tensor([[True, False], [False, False]])})
    0.25
    """
    return _kept_share(masks, population)


@overload
def effective_density(masks: Mapping[str, torch.Tensor], population: Literal[False] = False) -> float: ...
@overload
def effective_density(masks: Mapping[str, torch.Tensor], population: Literal[True]) -> torch.Tensor: ...
@overload
def effective_density(masks: Mapping[str, torch.Tensor], population: bool) -> float | torch.Tensor: ...
def effective_density(masks: Mapping[str, torch.Tensor], population: bool = False) -> float | torch.Tensor:
    """Return the share of weights that are kept and lie on a path from an input to an output.

    Counts the entries of weight tensors (two dimensions or more), not of biases. The channels of a
    convolution are its units. A bias is no path: a unit without incoming weights does not count.

    Raises
    ------
    ShapeError
        When the layers do not form a chain, as in residual networks.

    Examples
    --------
    The second hidden unit leads nowhere, so its incoming weight does not count.

    >>> hidden, output = torch.tensor([[True], [True]]), torch.tensor([[True, False]])
    >>> density({"hidden": hidden, "output": output})
    0.75
    >>> effective_density({"hidden": hidden, "output": output})
    0.5
    """
    layers = layer_chain(masks, population=population)
    if not layers:
        raise ShapeError("the effective density needs at least one weight tensor; got none")
    kept = [layer.by_unit(masks[layer.weight] != 0, population=population) for layer in layers]
    stacked = kept if population else [mask[None] for mask in kept]
    connected = [mask.any(dim=3) for mask in stacked]
    fed, useful = _fed_inputs(connected), _useful_units(connected)
    on_path = {
        layer.weight: mask & inputs[:, None, :, None] & units[:, :, None, None]
        for layer, mask, inputs, units in zip(layers, stacked, fed, useful, strict=True)
    }
    if not population:
        on_path = {name: mask[0] for name, mask in on_path.items()}
    return _kept_share(on_path, population)


def _kept_share(masks: Mapping[str, torch.Tensor], population: bool) -> float | torch.Tensor:
    if not masks:
        raise ShapeError("the density needs at least one mask; got none")
    if population:
        members = member_count(masks)
        size = sum(mask[0].numel() for mask in masks.values())
        counts = [mask.reshape(members, -1).count_nonzero(dim=1) for mask in masks.values()]
        return torch.stack(counts).sum(dim=0).double() / size
    size = sum(mask.numel() for mask in masks.values())
    return sum(int(mask.count_nonzero()) for mask in masks.values()) / size


def _fed_inputs(connected: list[torch.Tensor]) -> list[torch.Tensor]:
    """Return for each layer which of the units before it the network's inputs reach, ``[members, units before]``."""
    fed = [torch.ones_like(connected[0][:, 0, :])]
    for mask in connected[:-1]:
        fed.append((mask & fed[-1][:, None, :]).any(dim=2))
    return fed


def _useful_units(connected: list[torch.Tensor]) -> list[torch.Tensor]:
    """Return for each layer which of its units reach an output, ``[members, units]``."""
    useful = [torch.ones_like(connected[-1][:, :, 0])]
    for mask in connected[:0:-1]:
        useful.append((mask & useful[-1][:, :, None]).any(dim=1))
    return useful[::-1]
