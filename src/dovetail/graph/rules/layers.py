"""Dense layers and convolutions, whose outputs are new units, and the norms that are folded into them.

Batch norm multiplies a unit by ``|γ| / sqrt(variance + eps)``. Other norms divide by a deviation that changes with the
sample and is common to many units; of them ``|γ|`` alone is folded in.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..follow import Follower
from ..trace import Call, Value


def _linear(follower: Follower, call: Call) -> None:
    value, weight = _operands(follower, call)
    follower.keep(call.results[0], follower.add_layer(call, weight, value))


def _matmul(follower: Follower, call: Call) -> None:
    value, weight = call.argument(0, "input"), call.argument(1, "mat2" if "mat2" in call.kwargs else "other")
    if not isinstance(value, Value) or not isinstance(weight, Tensor) or weight.dim() != 2:
        raise follower.refusal(call, "only a matrix of weights as the second factor is a layer")
    follower.keep(call.results[0], follower.add_layer(call, weight.T, value))


def _convolution(follower: Follower, call: Call) -> None:
    value, weight = _operands(follower, call)
    packed = call.argument(1, "weight")
    quantised = isinstance(packed, torch.ScriptObject)
    groups = packed.groups() if quantised else call.argument(6, "groups", 1)
    if "transpose" in call.name:
        weight = _as_convolution(weight, groups)
    follower.keep(call.results[0], follower.add_layer(call, weight, value, groups))


def _operands(follower: Follower, call: Call) -> tuple[Value, Tensor]:
    value, weight = call.argument(0, "input"), call.argument(1, "weight")
    if isinstance(weight, torch.ScriptObject) and hasattr(
        weight, "unpack"
    ):  # of a quantised module, with its bias
        weight = weight.unpack()[0].dequantize()
    if not isinstance(value, Value) or not isinstance(weight, Tensor):
        raise follower.refusal(call, "its weights depend on the input")
    return value, weight


def _as_convolution(weight: Tensor, groups: int) -> Tensor:
    """Return ``[inputs, outputs of a group, kernel...]`` as ``[outputs, inputs of a group, kernel...]``."""
    by_group = weight.reshape(groups, -1, *weight.shape[1:])
    return by_group.transpose(1, 2).flatten(0, 1)


def _batch_norm(follower: Follower, call: Call) -> None:
    if call.function is torch.batch_norm:
        raise follower.refusal(call, "use torch.nn.functional.batch_norm")
    scale, variance = call.argument(3, "weight"), call.argument(2, "running_var")
    factor = torch.ones(()) if scale is None else scale.detach().double()
    if variance is not None:
        factor = factor / (variance.detach().double() + call.argument(7, "eps", 1e-5)).sqrt()
    _keep(follower, call, factor if factor.dim() else None, by_channel=True)


def _other_norm(follower: Follower, call: Call) -> None:
    position = 3 if call.name == "instance_norm" else 2
    by_channel = call.name in {"instance_norm", "group_norm"}
    _keep(follower, call, call.argument(position, "weight"), by_channel=by_channel)


def _keep(follower: Follower, call: Call, factor: Tensor | None, *, by_channel: bool) -> None:
    value = call.argument(0, "input")
    if not isinstance(value, Value) or len(call.operands) > 1:
        raise follower.refusal(call, "its weights depend on the input")
    if factor is None:
        factor = torch.ones(())
    elif by_channel:
        factor = factor.reshape(-1, *[1] * (len(value.shape) - 2))
    follower.keep(call.results[0], follower.scaled(value, factor, value.shape))


LAYER_RULES = {
    **dict.fromkeys(("linear", "linear_relu", "linear_dynamic", "linear_relu_dynamic"), _linear),
    "matmul": _matmul,
    **{f"conv{dims}d{activation}": _convolution for dims in (1, 2, 3) for activation in ("", "_relu")},
    **{f"conv_transpose{dims}d": _convolution for dims in (1, 2, 3)},
    "batch_norm": _batch_norm,
    **dict.fromkeys(("layer_norm", "rms_norm", "group_norm", "instance_norm"), _other_norm),
}
