"""Pooling and what else works on the places of a feature map: each channel must be the same unit everywhere."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor
from torch.nn import functional as F

from ..follow import Carried, Follower
from ..trace import Call, Value
from .elementwise import ELEMENTWISE_RULES

_POOLS = [
    f"{kind}_pool{dims}d"
    for kind in ("max", "avg", "adaptive_avg", "adaptive_max", "lp")
    for dims in (1, 2, 3)
]
_REDUCTIONS = ("mean", "sum", "amax", "amin", "max", "min", "std", "var", "logsumexp", "prod")


def _pool(follower: Follower, call: Call) -> None:
    _over(follower, call, range(-int(call.name[-2]), 0))


def _resize(follower: Follower, call: Call) -> None:
    _over(follower, call, range(2, len(call.results[0].shape)))


def _over(follower: Follower, call: Call, dims: Iterable[int]) -> None:
    """Follow an operation on places along dimensions."""
    carried = follower.alike(call, _operand(follower, call), dims)
    results = []
    for result in call.results:
        factor = None if carried.factor is None else carried.factor.expand(result.shape)
        results.append(Carried(carried.units.expand(result.shape), factor, carried.makers))
    follower.keep_results(call, results)


def _reduce(follower: Follower, call: Call) -> None:
    second = call.argument(1, "other")
    if call.name in {"max", "min"} and isinstance(second, Tensor | Value):
        ELEMENTWISE_RULES["maximum"](follower, call)
        return
    value = _operand(follower, call)
    rank = len(value.shape)
    given = call.argument(1, "dim", call.kwargs.get("axis"))
    dims = [given] if isinstance(given, int) else list(given) if isinstance(given, Iterable) else []
    dims = [dim % rank for dim in dims] or list(range(rank))
    # Entries of the input are units of their own, unless they are places of a map.
    carried = follower.alike(call, value, dims, join_inputs=min(dims) >= 2, mixes=True)
    for result in call.results:
        factor = None if carried.factor is None else carried.factor.reshape(result.shape)
        follower.keep(result, Carried(carried.units.reshape(result.shape), factor))


def _pad(follower: Follower, call: Call) -> None:
    pad, mode = call.argument(1, "pad"), call.argument(2, "mode", "constant")
    value = _operand(follower, call)
    carried = follower.carried(value)
    labels = [carried.units] if carried.factor is None else [carried.units, carried.factor]
    padded = sorted({-1 - number // 2 for number, width in enumerate(pad) if width})
    if mode != "constant" or all(tensor.stride(dim) == 0 for dim in padded for tensor in labels):
        _over(follower, call, padded)
        return
    units = F.pad(carried.units, pad, value=-1)
    factor = None if carried.factor is None else F.pad(carried.factor, pad, value=1.0)
    follower.keep(call.results[0], Carried(units, factor))


def _operand(follower: Follower, call: Call) -> Value:
    value = call.argument(0, "input")
    if not isinstance(value, Value) or len(call.operands) > 1:
        raise follower.refusal(call)
    return value


PLACE_RULES = {
    **dict.fromkeys(_POOLS, _pool),
    **dict.fromkeys(_REDUCTIONS, _reduce),
    **dict.fromkeys(("interpolate", "upsample", "upsample_nearest", "upsample_bilinear"), _resize),
    "pad": _pad,
}
