"""Rank the entries of several tensors together, for each member of a population at once."""

from __future__ import annotations

from collections.abc import Mapping

import torch


def side_by_side(tensors: Mapping[str, torch.Tensor], members: int) -> torch.Tensor:
    """Return all entries of some tensors in one row for each member, ``[members, entries]``."""
    return torch.cat([tensor.detach().reshape(members, -1) for tensor in tensors.values()], dim=1)


def masks_side_by_side(
    tensors: Mapping[str, torch.Tensor], masks: Mapping[str, torch.Tensor], members: int
) -> torch.Tensor:
    """Return the masks of some tensors in rows, all True for a tensor without a mask."""
    whole = {name: masks.get(name, torch.ones_like(t, dtype=torch.bool)) for name, t in tensors.items()}
    return side_by_side(whole, members)


def put_back(rows: torch.Tensor, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Undo `side_by_side`: return the entries of the rows in the shapes of the tensors."""
    parts = rows.split_with_sizes([tensor.numel() // len(rows) for tensor in tensors.values()], dim=1)
    return {
        name: part.reshape(tensor.shape) for (name, tensor), part in zip(tensors.items(), parts, strict=True)
    }


def drop_lowest(values: torch.Tensor, kept: torch.Tensor, dropped: torch.Tensor) -> torch.Tensor:
    """Return what is kept when `dropped[m]` entries of row m are gone, lowest values first.

    Entries no longer kept go before all others and so never come back; among equal values the earlier goes.
    """
    order = values.masked_fill(~kept, -torch.inf).argsort(dim=1, stable=True)
    rank = torch.arange(values.shape[1], device=values.device)
    return kept & torch.empty_like(kept).scatter_(1, order, rank >= dropped[:, None])
