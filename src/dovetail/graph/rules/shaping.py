"""Operations that only move entries, or write some into others: the same is done to the units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from ..follow import Carried, Follower, compact
from ..trace import Call, Value, tensors_in, values_in

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
    makers = follower.makers(value)
    units = tensors_in(change(carried.units))
    factors = [None] * len(units) if carried.factor is None else tensors_in(change(carried.factor))
    results = [
        Carried(compact(own), None if factor is None else compact(factor), makers)
        for own, factor in zip(units, factors, strict=True)
    ]
    follower.keep_results(call, results)


def _join(follower: Follower, call: Call) -> None:
    def joined(label: Labels) -> Tensor:
        args, kwargs = tree_map(
            lambda leaf: label(leaf) if isinstance(leaf, Value | Tensor) else leaf, (call.args, call.kwargs)
        )
        result: Tensor = call.function(*args, **kwargs)
        return result

    _keep_labels(follower, call, joined)
    # Cut apart again, each piece may be the whole output of one of these.
    makers = [follower.makers(value) for value in call.operands]
    if all(makers):
        carried = follower.carried(call.results[0])
        follower.keep(call.results[0], replace(carried, makers=tuple(chain.from_iterable(makers))))


def _write(follower: Follower, call: Call) -> None:
    """Follow a write through another tensor that shares memory with this one."""
    own, other, own_layout, other_layout = call.args

    def written(label: Labels) -> Tensor:
        memory = label(None).repeat(max(own_layout.end, other_layout.end))
        own_layout.of_memory(memory).copy_(label(own))
        other_layout.of_memory(memory).copy_(label(other))
        labels: Tensor = own_layout.of_memory(memory).clone()
        return labels

    _keep_labels(follower, call, written)


def _set_item(follower: Follower, call: Call) -> None:
    tensor, index, value = call.args
    if values_in(index):
        raise follower.refusal(call, "where it writes depends on the input")

    def changed(label: Labels) -> Tensor:
        labels = label(tensor).clone(memory_format=torch.contiguous_format)
        labels[tree_map(lambda leaf: leaf.cpu() if isinstance(leaf, Tensor) else leaf, index)] = label(value)
        return labels

    _keep_labels(follower, call, changed)


def _copy(follower: Follower, call: Call) -> None:
    """Follow ``copy_``, ``fill_`` and ``zero_``: what was there before does not matter."""
    source = call.args[1] if len(call.args) > 1 else None
    _keep_labels(follower, call, lambda label: label(source).expand(call.results[0].shape))


Labels: TypeAlias = Callable[[object], Tensor]
"""Gives the labels of a tensor's entries: units, or factors. What is no `Value` has labels of a constant."""


def _keep_labels(follower: Follower, call: Call, change: Callable[[Labels], Tensor]) -> None:
    """Note what a call makes of labels, for units and, if there are any, for factors."""

    def units_of(leaf: object) -> Tensor:
        return follower.carried(leaf).units if isinstance(leaf, Value) else _constant(leaf, torch.tensor(-1))

    def factor_of(leaf: object) -> Tensor:
        factor = follower.carried(leaf).factor if isinstance(leaf, Value) else None
        return _constant(leaf, torch.ones((), dtype=torch.float64)) if factor is None else factor

    units, factor = compact(change(units_of)), None
    if any(follower.carried(value).factor is not None for value in call.operands):
        factor = compact(change(factor_of))
    follower.keep(call.results[0], Carried(units, factor))


def _constant(leaf: object, label: Tensor) -> Tensor:
    return label.expand(leaf.shape) if isinstance(leaf, Value | Tensor) else label


SHAPING_RULES = {
    **dict.fromkeys(_RESHAPES.split(), _reshape),
    **dict.fromkeys(_EXPANDS.split(), _expand),
    **dict.fromkeys(_MOVES.split(), _move),
    **dict.fromkeys(_JOINS.split(), _join),
    "write": _write,
    "setitem": _set_item,
    **dict.fromkeys(("copy", "fill", "zero"), _copy),
}
