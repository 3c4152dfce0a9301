"""Attention: products of two tensors that both depend on the input.

Queries and keys only say where to look. A query and the key that it is multiplied with meet nowhere else: they gate
each other, and are one unit. The scores that these products add up to are no unit but a mixture of many, which gates
the values; and values are passed on from place to place as the units that they are.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor

from ..follow import Carried, Follower, narrowed
from ..layers import MIXTURE, NO_UNIT
from ..trace import Call, Value
from .layers import LAYER_RULES


def _matmul(follower: Follower, call: Call) -> None:
    first, second = call.argument(0, "input"), call.argument(1, "mat2" if "mat2" in call.kwargs else "other")
    if isinstance(second, Tensor) and second.dim() == 2:
        LAYER_RULES["matmul"](follower, call)
        return
    if min(len(first.shape), len(second.shape)) < 2:
        raise follower.refusal(call, "only a matrix of weights as the second factor is a layer")
    batch = _letters(max(len(first.shape), len(second.shape)) - 2)
    left, right = (f"{batch[len(batch) + 2 - len(one.shape) :]}" for one in (first, second))
    _contract(follower, call, (first, second), (f"{left}XY", f"{right}YZ"), f"{batch}XZ")


def _scaled_dot_product(follower: Follower, call: Call) -> None:
    query, key, value = (call.argument(place, name) for place, name in enumerate(("query", "key", "value")))
    grouped = call.kwargs.get("enable_gqa", False)
    batch = _letters(len(call.results[0].shape) - 2)
    if not isinstance(value, Value):
        raise follower.refusal(call, "the values that it passes on are constants")
    if isinstance(query, Value) and isinstance(key, Value):
        _score(follower, call, (query, key), (f"{batch}XY", f"{batch}ZY"), repeat=grouped)
    carried = follower.alike(call, value, [-2])
    copies = call.results[0].shape[-3] // value.shape[-3] if grouped else 1
    results = [
        None if labels is None else labels.repeat_interleave(copies, -3) if copies > 1 else labels
        for labels in (carried.units, carried.factor)
    ]
    units, factor = (None if labels is None else labels.expand(call.results[0].shape) for labels in results)
    assert units is not None
    follower.keep(call.results[0], Carried(units, factor))
    follower.add_heads(call, values=_by_head(follower.found(units), range(len(batch)), -1))


def _contract(
    follower: Follower,
    call: Call,
    operands: tuple[Value | Tensor, Value | Tensor],
    names: tuple[str, str],
    result: str,
) -> None:
    """Follow a sum of products over the dimensions that have a name in both operands, and none in the result."""
    if any(set(own) - set(other) - set(result) for own, other in (names, names[::-1])):
        raise follower.refusal(call, "it adds up different units")
    shape = call.results[0].shape
    carrying = [number for number, one in enumerate(operands) if _has_units(follower, one)]
    if len(carrying) == 1:
        (number,) = carrying
        value, own, other = operands[number], names[number], names[1 - number]
        assert isinstance(value, Value)
        summed = [place for place, name in enumerate(own) if name not in result]
        constant = isinstance(operands[1 - number], Tensor)
        carried = follower.alike(call, value, summed, mixes=constant)
        if (narrowed(carried.units)[0] >= 0).any():
            units, factor = (
                None if labels is None else _arranged(labels, own, result).expand(shape)
                for labels in (carried.units, carried.factor)
            )
            assert units is not None
            follower.keep(call.results[0], Carried(units, factor))
            heads = [place for place, name in enumerate(result) if name in own and name in other]
            if not constant and not _is_constant(follower, operands[1 - number]):
                along = next(place for place, name in enumerate(result) if name in own and name not in other)
                follower.add_heads(call, values=_by_head(follower.found(units), heads, along))
            return
    elif len(carrying) == 2:
        _score(follower, call, operands, names)  # type: ignore[arg-type]  # constants carry no units
    mixed = carrying or not all(_is_constant(follower, one) for one in operands)
    follower.keep(call.results[0], Carried(torch.tensor(MIXTURE if mixed else NO_UNIT).expand(shape)))


def _score(
    follower: Follower,
    call: Call,
    operands: tuple[Value, Value],
    names: tuple[str, str],
    *,
    repeat: bool = False,
) -> None:
    """Unite queries with their keys: what each is multiplied with before all products are added up."""
    shared = "".join(name for name in names[0] if name in names[1])
    found = []
    for value, own in zip(operands, names, strict=True):
        own = own[len(own) - len(value.shape) :]
        alone = [place for place, name in enumerate(own) if name not in shared]
        units = _arranged(follower.alike(call, value, alone).units, own, shared)
        found.append(follower.found(units))
    if repeat:
        copies = found[0].shape[-2] // found[1].shape[-2]
        found[1] = found[1].repeat_interleave(copies, -2)
    queries, keys = torch.broadcast_tensors(*narrowed(*torch.broadcast_tensors(*found)))
    pairs = np.unique(np.stack([queries.flatten().numpy(), keys.flatten().numpy()]), axis=1)
    pairs = pairs[:, (pairs >= 0).all(0)]
    # A key that several queries are multiplied with (of several heads, say) gates all of them and is none of them.
    alone = (np.bincount(pairs[0])[pairs[0]] == 1) & (np.bincount(pairs[1])[pairs[1]] == 1)
    follower.units.unite(pairs[0, alone], pairs[1, alone])
    heads = range(len(shared) - 1)
    follower.add_heads(call, queries=_by_head(queries, heads, -1), keys=_by_head(keys, heads, -1))


def _by_head(units: Tensor, heads: Iterable[int], along: int) -> Tensor:
    """Return units as ``[heads, units]``: of those dimensions of the heads along which units change."""
    along %= units.dim()
    heads = [dim for dim in heads if dim != along and units.stride(dim) and bool(
        (units != units.narrow(dim, 0, 1)).any()
    )]  # fmt: skip
    for dim in range(units.dim()):
        if dim != along and dim not in heads:
            units = units.narrow(dim, 0, 1)
    order = [*heads, *(dim for dim in range(units.dim()) if dim not in heads)]
    count_of_heads = int(np.prod([units.shape[dim] for dim in heads], dtype=np.int64))
    return units.permute(order).reshape(count_of_heads, -1)


def _arranged(labels: Tensor, own: str, result: str) -> Tensor:
    """Return labels whose dimensions have names, with the dimensions of the result; 1 along those that are missing."""
    kept = [name for name in result if name in own]
    gone = [name for name in own if name not in result]
    labels = labels.permute([own.index(name) for name in (*kept, *gone)])
    labels = labels.reshape(labels.shape[: len(kept)])
    sizes = dict(zip(kept, range(labels.dim()), strict=True))
    return labels[tuple(slice(None) if name in sizes else None for name in result)]


def _has_units(follower: Follower, one: Value | Tensor) -> bool:
    return isinstance(one, Value) and follower.units_in(one)


def _is_constant(follower: Follower, one: Value | Tensor) -> bool:
    return not isinstance(one, Value) or follower.is_constant(one)


def _letters(number: int) -> str:
    return string.ascii_lowercase[:number]


ATTENTION_RULES: dict[str, Callable[[Follower, Call], None]] = {
    "matmul": _matmul,
    "scaled_dot_product_attention": _scaled_dot_product,
}
