"""Elementwise operations: units stay what they are, and those that meet become one.

Units meet where they are added, or where one gates the other. A shortcut is thus no edge: the sum and everything
added to it are the same nodes. Likewise the gate of a squeeze-and-excitation block is one with the channel that it
gates.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ..follow import Carried, Follower, narrowed
from ..layers import MIXTURE
from ..trace import Call

# A positive factor passes through these, so that batch norm behind them can be folded into the layer before them.
_HOMOGENEOUS = """
    relu leaky_relu rrelu prelu neg
    dropout dropout1d dropout2d dropout3d feature_dropout
    contiguous clone detach data quantize_per_tensor dequantize
    to float double half bfloat16 type type_as alias requires_grad
"""

_OTHERS = """
    celu elu gelu hardshrink hardsigmoid hardswish hardtanh logsigmoid mish relu6 selu sigmoid silu softplus softshrink
    softsign tanh tanhshrink threshold softmax softmin log_softmax normalize local_response_norm
    alpha_dropout feature_alpha_dropout
    abs clamp cos erf exp expm1 log log1p masked_fill nan_to_num pow reciprocal rsqrt sign sin sqrt square
    add sub rsub div mul maximum minimum where lerp eq ne lt le gt ge
"""

_GATES = {"mul", "div"}

_CENTRES = {"sub", "where", "masked_fill"}
"""What may take a mixture of units beside those that gate: a norm written by hand subtracts the mean of all units."""

_SUMS = {"add", "sub", "rsub"}


def _elementwise(follower: Follower, call: Call) -> None:
    carried = _joined(follower, call) if len(call.operands) > 1 else _alone(follower, call)
    for result in call.results:
        follower.keep(result, carried)


def _gated_halves(follower: Follower, call: Call) -> None:
    """Follow ``glu``: the second half gates the first."""
    carried = follower.carried(call.operands[0])
    dim = call.argument(1, "dim", -1)
    units, gates = follower.found(carried.units).chunk(2, dim=dim)
    follower.units.unite(units.flatten().numpy(), gates.flatten().numpy())
    factor = None if carried.factor is None else torch.stack(carried.factor.chunk(2, dim=dim)).prod(0)
    follower.keep(call.results[0], Carried(units, factor))


def _alone(follower: Follower, call: Call) -> Carried:
    value = call.operands[0]
    shape = call.results[0].shape
    if call.name == "mul" or (call.name == "div" and call.args[0] == value):
        constants = [arg for arg in call.args if isinstance(arg, Tensor) and arg.numel() > 1]
        if constants and constants[0].is_floating_point():
            scale = constants[0].detach().double()
            return follower.scaled(value, scale if call.name == "mul" else 1 / scale, shape)
    carried = follower.carried(value)
    factor = None if carried.factor is None else carried.factor.expand(shape)
    makers = follower.makers(value) if call.name in _HOMOGENEOUS.split() else ()
    return Carried(carried.units.expand(shape), factor, makers)


def _joined(follower: Follower, call: Call) -> Carried:
    shape = call.results[0].shape
    labels = [follower.carried(value).units.expand(shape) for value in call.operands]
    labels = [follower.found(units) for units in narrowed(*labels)]
    mixed = [bool((units == MIXTURE).any()) for units in labels]
    if any(mixed) and any(bool((units >= 0).any()) for units in labels):
        if call.name not in _GATES | _CENTRES:
            raise follower.refusal(call, "one unit meets many")
    else:
        mixed = [False] * len(labels)
    shared = [
        is_mixed
        or (
            bool((own >= 0).any())
            and any(
                _copied(value.shape, shape, dim)
                and any(_varies(other, dim) for other in labels if other is not own)
                for dim in range(-len(shape), 0)
            )
        )
        for value, own, is_mixed in zip(call.operands, labels, mixed, strict=True)
    ]
    if all(shared) or (shared != mixed and call.name not in _GATES):
        raise follower.refusal(call, "one unit meets many")
    # What gates many units at once (a map of places to attend to) is none of them.
    joined, *others = [units for units, one_to_many in zip(labels, shared, strict=True) if not one_to_many]
    for units in others:
        follower.units.unite(joined.flatten().numpy(), units.flatten().numpy())
        if call.name in _SUMS:
            follower.units.note_sum(joined.flatten().numpy(), units.flatten().numpy())
        neither = torch.minimum(joined, units)  # a mixture with a constant is one
        joined = joined.where(joined >= 0, units.where(units >= 0, neither))
    meet = [value for value, one_to_many in zip(call.operands, shared, strict=True) if not one_to_many]
    return Carried(
        joined.expand(shape), _joint_factor(call, [follower.carried(value).factor for value in meet])
    )


def _joint_factor(call: Call, factors: list[Tensor | None]) -> Tensor | None:
    """Return the factor of units that meet: that of a product is the product; else they count with their mean."""
    if all(factor is None for factor in factors):
        return None
    shape, one = call.results[0].shape, torch.ones((), dtype=torch.float64)
    first, *others = narrowed(*((one if factor is None else factor).expand(shape) for factor in factors))
    if call.name == "mul":
        joint = math.prod(others, start=first)
    elif call.name == "div":
        joint = first / math.prod(others, start=one)
    else:
        joint = sum(others, start=first) / len(factors)
    return joint.expand(shape)


def _copied(own: tuple[int, ...], shape: tuple[int, ...], dim: int) -> bool:
    """Return whether an operand is broadcast along a dimension (counted from the end)."""
    return shape[dim] > 1 and (-dim > len(own) or own[dim] == 1)


def _varies(units: Tensor, dim: int) -> bool:
    top = units.amax(dim=dim, keepdim=True)
    return bool(((units != top) & (units >= 0)).any())


ELEMENTWISE_RULES = {
    **dict.fromkeys(_HOMOGENEOUS.split(), _elementwise),
    **dict.fromkeys(_OTHERS.split(), _elementwise),
    "glu": _gated_halves,
}
