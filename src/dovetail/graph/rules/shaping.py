"""Operations that only move entries: the same is done to the units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from ..follow import Carried, Follower, compact
from ..trace import Call, Value, tensors_in

_RESHAPES = "view reshape view_as reshape_as flatten unflatten squeeze unsqueeze ravel"
_EXPANDS = "expand expand_as broadcast_to"
_MOVES = """
    permute transpose swapaxes swapdims movedim moveaxis t T mT H flip roll repeat tile repeat_interleave
    getitem select narrow index_select chunk split tensor_split unbind unsafe_chunk unsafe_split split_with_sizes
    pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle
"""
_JOINS = "cat stack hstack vstack dstack"


def _reshape(follower: Follower, call: Call) -> None:
    _apply(follower, call, lambda labels: labels.reshape(call.results[0].shape))


def _expand(follower: Follower, call: Call) -> None:
    _apply(follower, call, lambda labels: labels.expand(call.results[0].shape))


def _move(follower: Follower, call: Call) -> None:
    def moved(labels: Tensor) -> Any:
        args, kwargs = tree_map(
            lambda leaf: leaf.cpu() if isinstance(leaf, Tensor) else leaf, (call.args[1:], call.kwargs)
        )
        return call.function(labels, *args, **kwargs)

    if len(call.operands) > 1:
        raise follower.refusal(call, "what it picks depends on the input")
    _apply(follower, call, moved)


def _apply(follower: Follower, call: Call, change: Callable[[Tensor], Any]) -> None:
    """Do to units and factor what a call does to its first operand."""
    value = call.args[0] if call.args else None
    if not isinstance(value, Value):
        raise follower.refusal(call)
    carried = follower.carried(value)
    units = tensors_in(change(carried.units))
    factors = [None] * len(units) if carried.factor is None else tensors_in(change(carried.factor))
    for result, own_units, factor in zip(call.results, units, factors, strict=True):
        factor = None if factor is None else compact(factor)
        follower.keep(result, Carried(compact(own_units), factor, follower.maker(value)))


def _join(follower: Follower, call: Call) -> None:
    def joined(label: Callable[[Carried], Tensor | None], default: float, dtype: torch.dtype) -> Tensor:
        """Return labels joined as the call joins tensors; `default` is the label of constants."""

        def labels(leaf: object) -> object:
            if isinstance(leaf, Value):
                own = label(follower.carried(leaf))
                return torch.full((), default, dtype=dtype).expand(leaf.shape) if own is None else own
            if isinstance(leaf, Tensor):
                return torch.full((), default, dtype=dtype).expand(leaf.shape)
            return leaf

        args, kwargs = tree_map(labels, (call.args, call.kwargs))
        result: Tensor = call.function(*args, **kwargs)
        return compact(result)

    units = joined(lambda carried: carried.units, -1, torch.int64)
    factor = None
    if any(follower.carried(value).factor is not None for value in call.operands):
        factor = joined(lambda carried: carried.factor, 1.0, torch.float64)
    follower.keep(call.results[0], Carried(units, factor))


SHAPING_RULES = {
    **dict.fromkeys(_RESHAPES.split(), _reshape),
    **dict.fromkeys(_EXPANDS.split(), _expand),
    **dict.fromkeys(_MOVES.split(), _move),
    **dict.fromkeys(_JOINS.split(), _join),
}
