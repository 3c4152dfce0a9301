"""Pooling: one vector, or still a map, of what a network gives at its cut."""

from __future__ import annotations

from typing import Literal, get_args

from torch import Tensor

from ..errors import ShapeError, unknown_name

Pool = Literal["auto", "mean", "max", "first", "flatten", "none"]

_VECTOR, _TOKENS = 2, 3


def check_pool(pool: str) -> None:
    """Refuse an unknown way to pool."""
    if pool not in get_args(Pool):
        raise unknown_name("pool", pool, get_args(Pool))


def pooled(features: Tensor, pool: str, mask: Tensor | None = None) -> Tensor:
    """Return features pooled.

    Parameters
    ----------
    features : Tensor
        ``[samples, features]``; tokens ``[samples, tokens, features]``; or maps ``[samples, channels, places...]``.
    pool : {"auto", "mean", "max", "first", "flatten", "none"}
        ``"auto"``: vectors as they are, the mean over tokens or places of a map.
    mask : Tensor, optional
        Of tokens: which are there, ``[samples, tokens]``.

    Examples
    --------
    >>> import torch
    >>> maps = torch.arange(8.0).reshape(1, 2, 2, 2)
    >>> pooled(maps, "auto").tolist(), pooled(maps, "max").tolist(), pooled(maps, "flatten").shape
    ([[1.5, 5.5]], [[3.0, 7.0]], torch.Size([1, 8]))
    """
    if features.dim() < _VECTOR:
        raise ShapeError(
            f"at its cut the network gives {tuple(features.shape)}, not a row for each sample; cut it elsewhere"
        )
    if pool == "none" or features.dim() == _VECTOR:
        return features
    if pool == "flatten":
        return features.flatten(1)
    if features.dim() == _TOKENS:
        if pool == "first":
            return features[:, 0]
        if mask is None:
            return features.amax(1) if pool == "max" else features.mean(1)
        there = mask.to(features.device)[:, : features.shape[1], None].bool()
        if pool == "max":
            return features.masked_fill(~there, float("-inf")).amax(1)
        return (features * there).sum(1) / there.sum(1).clamp(min=1)
    if pool == "first":
        raise ShapeError("pool 'first' is for tokens; a map of channels takes mean, max, flatten or none")
    places = features.flatten(2)
    return places.amax(2) if pool == "max" else places.mean(2)
