"""Density: how much of a network is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, overload

import torch

from ..errors import ShapeError
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
    if not masks:
        raise ShapeError("the density needs at least one mask; got none")
    if population:
        members = member_count(masks)
        size = sum(mask[0].numel() for mask in masks.values())
        counts = [mask.reshape(members, -1).count_nonzero(dim=1) for mask in masks.values()]
        return torch.stack(counts).sum(dim=0).double() / size
    size = sum(mask.numel() for mask in masks.values())
    return sum(int(mask.count_nonzero()) for mask in masks.values()) / size
