"""Prune whole units: score them by their effect on the loss and drop the lowest of the whole network."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from ..errors import ShapeError, SpecError, unknown_name
from .checks import check_finite, check_masks, member_count, shares_per_member
from .ranking import drop_lowest, masks_side_by_side, put_back, side_by_side


def unit_sensitivity(
    activations: Mapping[str, torch.Tensor],
    gradients: Mapping[str, torch.Tensor],
    *,
    population: bool = False,
) -> dict[str, torch.Tensor]:
    """Return the mean over samples of ``|dL/da * a|`` for each unit: how much the loss would feel its loss.

    Parameters
    ----------
    activations
        For each layer ``[samples, units]``, or ``[samples, channels, height, width]`` for feature maps,
        whose positions are summed before the absolute value is taken.
    gradients
        Derivatives of the loss with respect to these, in the same shapes. A common factor, such as the 1/N
        of a mean loss, scales all scores alike.
    population
        Whether the tensors have a leading member dimension.

    Examples
    --------
    >>> unit_sensitivity({"hidden": torch.tensor([[1.0, 0.0], [3.0, 1.0]])},
    ...                  {"hidden": torch.tensor([[-1.0, 5.0], [1.0, 0.5]])})
    {'hidden': tensor([2.0000, 0.2500])}
    """
    samples_dim = 1 if population else 0
    scores: dict[str, torch.Tensor] = {}
    for name, activation in activations.items():
        if name not in gradients:
            raise unknown_name("layer among the gradients", name, gradients)
        gradient = gradients[name]
        if gradient.shape != activation.shape or activation.dim() < samples_dim + 2:
            raise ShapeError(
                f"layer {name!r} has activations {tuple(activation.shape)} and gradients "
                f"{tuple(gradient.shape)}; both must be [samples, units, ...]"
                + (" behind the members" if population else "")
            )
        effect = activation * gradient
        effect = effect.reshape(*effect.shape[: samples_dim + 2], -1).sum(dim=-1)
        scores[name] = effect.abs().mean(dim=samples_dim)
    return scores


def prune_units(
    scores: Mapping[str, torch.Tensor],
    kept: Mapping[str, torch.Tensor] | None = None,
    *,
    share: float | torch.Tensor | None = None,
    count: int | torch.Tensor | None = None,
    population: bool = False,
) -> dict[str, torch.Tensor]:
    """Return which units to keep when the lowest scores of all layers together are dropped.

    Parameters
    ----------
    scores
        Scores of the hidden units for each layer, ``[units]``.
    kept
        Units that are still there, by default all. Those that are not score 0, stay in the ranking, and
        never come back.
    share
        Keep the units that score above this percentile (as a share) of all units, interpolated linearly
        between scores. Units at the percentile go, so even a share of 0 drops the lowest.
    count
        Instead of `share`: how many units are gone afterwards, those that went earlier included. Among equal
        scores the earlier unit goes first.
    population
        Whether the tensors have a leading member dimension. `share` and `count` may then be tensors, one
        value for each member.

    Examples
    --------
    >>> scores = {"hidden1": torch.tensor([0.1, 0.9]), "hidden2": torch.tensor([0.5, 0.7])}
    >>> prune_units(scores, share=0.5)
    {'hidden1': tensor([False,  True]), 'hidden2': tensor([False,  True])}
    >>> prune_units(scores, count=1)
    {'hidden1': tensor([False,  True]), 'hidden2': tensor([True, True])}
    """
    kept = kept or {}
    check_masks(scores, kept)
    check_finite(scores)
    if not scores:
        return {}
    members = member_count(scores) if population else None
    rows = 1 if members is None else members
    flat = side_by_side(scores, rows).double()
    there = masks_side_by_side(scores, kept, rows)
    if share is not None and count is None:
        flat = flat.masked_fill(~there, 0)
        shares = shares_per_member("share", share, members).to(flat.device)
        stays = there & (flat > _percentile(flat, shares)[:, None])
    elif count is not None and share is None:
        counts = _counts(count, members, flat.shape[1]).to(flat.device)
        stays = drop_lowest(flat, there, counts)
    else:
        raise SpecError("give either share (a percentile) or count (of units), and not both")
    return put_back(stays, scores)


def _percentile(values: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
    """Return each row's percentile with linear interpolation, as ``numpy.quantile`` defines it.

    ``torch.quantile`` takes no share for each row, and refuses large inputs.
    """
    ordered = values.sort(dim=1).values
    place = shares * (values.shape[1] - 1)
    below, above = place.floor().long(), place.ceil().long()
    low, high = ordered.gather(1, below[:, None]), ordered.gather(1, above[:, None])
    return torch.lerp(low, high, (place - below)[:, None])[:, 0]


def _counts(count: int | torch.Tensor, members: int | None, total: int) -> torch.Tensor:
    counts = torch.as_tensor(count)
    expected = () if members is None else (members,)
    if counts.shape not in {(), expected} or counts.is_floating_point():
        raise ShapeError(
            f"count must be one whole number or, for a population, one for each member; got {count}"
        )
    if bool((counts < 0).any()) or bool((counts > total).any()):
        raise SpecError(f"count must lie between 0 and the {total} units there are; got {count}")
    return counts.expand(1 if members is None else members)
