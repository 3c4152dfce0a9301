"""Rules: which functional calls of a network are worded anew, and how."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch._C._functorch import get_unwrapped
from torch.overrides import TorchFunctionMode

from ..random import Noise
from ..recording import is_recording
from . import conv_pool
from .autocast import autocast, is_autocast
from .convolution import conv2d, is_thin, pair, plain_padding
from .dropout import alpha_dropout, dropout
from .linear import linear
from .one_by_one import is_mapped, one_by_one
from .pooling import max_pool2d_apart


@dataclass(frozen=True)
class _Convolution:
    """A convolution's result, and what it was made from."""

    result: Tensor
    x: Tensor
    weight: Tensor
    bias: Tensor | None
    padding: tuple[int, ...]


class MemberNoise(TorchFunctionMode):
    """While active, dropout, `rand_like` and `randn_like` draw a member's noise; without noise they are torch's."""

    def __init__(self, noise: Noise | None) -> None:
        super().__init__()
        self.noise = noise

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        rule = None if self.noise is None else _NOISE_RULES.get(func)
        result = NotImplemented if rule is None else rule(self.noise, *args, **(kwargs or {}))
        return func(*args, **(kwargs or {})) if result is NotImplemented else result


class MemberOperations(MemberNoise):
    """While active, functional calls of modules also use this folder's wording."""

    def __init__(self, noise: Noise | None = None) -> None:
        super().__init__(noise)
        self.convolution: _Convolution | None = None

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func is not F.max_pool2d:  # what comes in between may change the result in place
            self.convolution = None
        rule = _WORDING_RULES.get(func)
        if rule is not None:
            result = rule(self, *args, **(kwargs or {}))
            if result is not NotImplemented:
                return result
        return super().__torch_function__(func, types, args, kwargs)


def _linear_rule(_: MemberOperations, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return linear(x, weight, bias)


def _conv2d_rule(
    mode: MemberOperations,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | str | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Any:
    padding = plain_padding(padding, weight)
    x, weight, bias = autocast(x, weight, bias)
    result = conv2d(x, weight, bias, stride, padding, dilation, groups)
    # Only while a trace is recorded, which drops the convolution if all that is used is what it is pooled to.
    if is_recording() and is_thin(x, weight, padding, dilation, groups):
        alone_on_cuda = x.is_cuda and not is_mapped(x) and not is_mapped(weight)
        if pair(stride) == (1, 1) and not alone_on_cuda and not _needs_gradient(x):
            assert not isinstance(padding, str)
            mode.convolution = _Convolution(result, x, weight, bias, pair(padding))
    return result


def _needs_gradient(x: Tensor) -> bool:
    while not x.requires_grad and is_mapped(x):  # mapped tensors do not tell
        x = get_unwrapped(x)
    return x.requires_grad


def _max_pool2d_rule(
    mode: MemberOperations,
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    kernel = pair(kernel_size)
    apart = kernel == pair(stride or kernel) and pair(padding) == (0, 0) and pair(dilation) == (1, 1)
    if not apart or ceil_mode or return_indices:
        return NotImplemented
    made = mode.convolution
    if made is not None and made.result is x and conv_pool.pools_well(made.weight, x, kernel):
        return conv_pool.conv_pool2d(made.x, made.weight, made.bias, made.padding, kernel)
    if not x.is_cuda or not is_mapped(x):
        return NotImplemented
    return max_pool2d_apart(x, kernel)


def _batch_norm_rule(_: MemberOperations, x: Tensor, *args: Any, **kwargs: Any) -> Any:
    given = inspect.signature(F.batch_norm).bind(x, *args, **kwargs)
    given.apply_defaults()
    if not any(isinstance(value, Tensor) and is_mapped(value) for value in given.args):
        return NotImplemented
    if x.is_cuda:
        # Mapped, it ends in a product with float32 weights. What goes on is of the input's type, as from torch's own.
        return F.batch_norm(*given.args).to(x.dtype) if is_autocast(x) else NotImplemented
    return one_by_one(F.batch_norm, *given.args)


_WORDING_RULES: dict[Callable[..., Any], Callable[..., Any]] = {
    F.linear: _linear_rule,
    F.conv2d: _conv2d_rule,
    F.batch_norm: _batch_norm_rule,
    F.max_pool2d: _max_pool2d_rule,
}


def _dropout_rule(features: int) -> Callable[..., Any]:
    def rule(noise: Noise, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        return dropout(noise, x, p, features) if training else x

    return rule


def _alpha_dropout_rule(
    noise: Noise, x: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    return alpha_dropout(noise, x, p) if training else x


def _rand_like_rule(noise: Noise, x: Tensor, **options: Any) -> Any:
    return NotImplemented if options else noise.uniform(_exact(x), x.shape).to(x.dtype)


def _randn_like_rule(noise: Noise, x: Tensor, **options: Any) -> Any:
    return NotImplemented if options else noise.normal(_exact(x), x.shape).to(x.dtype)


def _exact(x: Tensor) -> Tensor:
    """Return a tensor of the type to draw in: under autocast float32, as bfloat16 would meet the interval's ends."""
    return x.float() if is_autocast(x) else x


_NOISE_RULES: dict[Callable[..., Any], Callable[..., Any]] = {
    F.dropout: _dropout_rule(0),
    F.dropout1d: _dropout_rule(1),
    F.dropout2d: _dropout_rule(2),
    F.dropout3d: _dropout_rule(3),
    F.alpha_dropout: _alpha_dropout_rule,
    torch.rand_like: _rand_like_rule,
    torch.randn_like: _randn_like_rule,
}
