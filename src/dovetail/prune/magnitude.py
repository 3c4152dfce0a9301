"""Magnitude pruning: the smallest weights go, tensor by tensor or over the whole network."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

import torch

from ..errors import SpecError, unknown_name
from .checks import check_finite, check_masks, check_share, member_count


def prune_by_magnitude(
    weights: Mapping[str, torch.Tensor],
    masks: Mapping[str, torch.Tensor] | None = None,
    *,
    rate: float | None = None,
    sparsity: float | None = None,
    scope: Literal["tensor", "global"] = "tensor",
    output: str | Collection[str] | None = None,
    output_rate: float | None = None,
    population: bool = False,
) -> dict[str, torch.Tensor]:
    """Return masks with the entries of least magnitude pruned.

    Among equal magnitudes the earlier entry goes first. Entries that `masks` has pruned stay pruned.

    Parameters
    ----------
    weights
        The tensors to prune; leave out those that are not to be pruned.
    masks
        What earlier rounds left. Tensors without a mask count as whole; masks of other tensors do not matter.
    rate
        Share of the entries still kept to prune now, rounded half to even. Give this or `sparsity`.
    sparsity
        Share of all entries that are zero afterwards, those pruned earlier included.
    scope
        ``"tensor"`` prunes the share in every tensor; ``"global"`` ranks all tensors together.
    output
        Name or names of the output layer's tensors. They are always ranked apart from the others, at
        `output_rate`.
    output_rate
        Rate of the output tensors, by default half of `rate`; with `sparsity` it is their sparsity and must
        be given.
    population
        Whether the tensors have a leading member dimension.

    Raises
    ------
    SpecError
        For shares outside [0, 1], or a combination of options that has no meaning.
    ShapeError
        For masks or rates that do not fit the weights.
    TrainingError
        For a tensor that holds NaN or infinite values.

    Examples
    --------
    >>> weights = {"w": torch.tensor([[0.1, -2.0], [0.3, 0.2]])}
    >>> once = prune_by_magnitude(weights, rate=0.5)
    >>> once
    {'w': tensor([[False,  True],
            [ True, False]])}
    >>> prune_by_magnitude(weights, once, sparsity=0.75)
    {'w': tensor([[False,  True],
            [False, False]])}
    """
    if (rate is None) == (sparsity is None):
        raise SpecError("give either rate (of what is left) or sparsity (of everything), and not both")
    if scope not in ("tensor", "global"):
        raise unknown_name("scope", scope, ["tensor", "global"])
    masks = {name: mask for name, mask in (masks or {}).items() if name in weights}
    check_masks(weights, masks)
    check_finite(weights)
    if not weights:
        return {}

    output_names = {output} if isinstance(output, str) else set(output or ())
    output_rate = _settled_output_rate(weights, output_names, rate, output_rate)
    members = member_count(weights) if population else 1
    outputs = [name for name in weights if name in output_names]
    others = [name for name in weights if name not in output_names]
    pruned: dict[str, torch.Tensor] = {}
    for what, share, names in (
        ("rate", rate, others),
        ("sparsity", sparsity, others),
        ("output_rate", output_rate, outputs),
    ):
        if share is None:
            continue
        check_share(what, share)
        for group in [names] if scope == "global" and names else [[name] for name in names]:
            tensors = {name: weights[name] for name in group}
            pruned |= _prune_together(tensors, masks, share, members, of_what_is_left=sparsity is None)
    return {name: pruned[name] for name in weights}


def _settled_output_rate(
    weights: Mapping[str, torch.Tensor],
    output_names: Collection[str],
    rate: float | None,
    output_rate: float | None,
) -> float | None:
    for name in output_names:
        if name not in weights:
            raise unknown_name("output tensor", name, weights)
    if output_rate is not None:
        if not output_names:
            raise SpecError("output_rate needs the names of the output tensors in output")
        return output_rate
    if not output_names:
        return None
    if rate is None:
        raise SpecError("with sparsity, give the output tensors' own sparsity as output_rate")
    return rate / 2


def _prune_together(
    weights: Mapping[str, torch.Tensor],
    masks: Mapping[str, torch.Tensor],
    share: float,
    members: int,
    *,
    of_what_is_left: bool,
) -> dict[str, torch.Tensor]:
    """Rank the entries of some tensors together and prune a share of them, member by member."""
    kept = masks_side_by_side(weights, masks, members)
    left = kept.sum(dim=1)
    if of_what_is_left:
        pruned = kept.shape[1] - left + (share * left.double()).round().long()
    else:
        pruned = torch.full_like(left, round(share * kept.shape[1]))
    return put_back(drop_lowest(side_by_side(weights, members).abs(), kept, pruned), weights)


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
