"""Normalisation: units stay what they are, and their scale is folded into a layer.

Batch norm multiplies a unit by ``|γ| / sqrt(variance + eps)``. Other norms divide by a deviation that changes with the
sample and is common to many units; of them ``|γ|`` alone is folded in.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..follow import Follower
from ..trace import Call, Value


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


NORMALISE_RULES = {
    "batch_norm": _batch_norm,
    **dict.fromkeys(("layer_norm", "rms_norm", "group_norm", "instance_norm"), _other_norm),
}
