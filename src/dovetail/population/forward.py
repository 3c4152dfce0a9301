"""One network's forward pass, written so that mapping it over members gives fast stacked products.

`torch.func.vmap` already runs any module for a whole stack. A few operations are worded differently here,
because the wording decides what the stacked version costs; the result is the same:

- a linear layer with a backward pass of its own, in which both gradients come out in the memory layout of
  what they belong to; transposed ones, which `vmap` would give, make all that follows several times slower;
- a convolution over few input values per output (a first layer) as a product of patches: as a grouped
  convolution, which is what `vmap` would make of it, each group is too thin for the hardware;
- a convolution of a member that is alone on CUDA, in another memory layout;
- max-pooling without overlap on CUDA with a backward pass of its own (see `pooling`), and together with the
  convolution before it where that is such a first layer (see `conv_pool`);
- dropout, `rand_like` and `randn_like` with noise that belongs to the member (see `noise`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._C._functorch import get_unwrapped
from torch.func import functional_call
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.overrides import TorchFunctionMode

from .mapping import is_wrapped
from .ops import conv_pool
from .ops.patches import patch_conv2d
from .ops.pooling import max_pool2d_apart
from .random import Noise

_PATCH_VALUES = 80
"""Largest patch (input channels × kernel area) for which a convolution is done as a product of patches."""


class _Product(torch.autograd.Function):
    """``x Wᵀ`` for a batch ``[batch, in]`` and a weight ``[out, in]``."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, weight: Tensor) -> Tensor:
        return x @ weight.mT

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        needs_x, needs_weight = ctx.needs_input_grad
        return gradient @ weight if needs_x else None, gradient.mT @ x if needs_weight else None


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Linear layer whose gradients are laid out like the input and the weight."""
    rows = x.flatten(0, -2) if x.dim() > 2 else torch.atleast_2d(x)
    product: Tensor = _Product.apply(rows, weight)  # type: ignore[no-untyped-call]
    y = product.view(*x.shape[:-1], len(weight))
    return y if bias is None else y + bias


@dataclass(frozen=True)
class _Convolution:
    """A convolution's result, and what it was made from."""

    result: Tensor
    x: Tensor
    weight: Tensor
    bias: Tensor | None
    padding: tuple[int, ...]


class MemberOperations(TorchFunctionMode):
    """While active, functional calls of modules use this file's wording.

    Parameters
    ----------
    noise : Noise, optional
        Where dropout gets its noise; without it, dropout is left to torch.
    """

    def __init__(self, noise: Noise | None = None) -> None:
        super().__init__()
        self.noise = noise
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
        rule = _RULES.get(func)
        result = NotImplemented if rule is None else rule(self, *args, **(kwargs or {}))
        return func(*args, **(kwargs or {})) if result is NotImplemented else result


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
    if padding == "valid":
        padding = 0
    elif padding == "same" and all(size % 2 for size in weight.shape[2:]):
        padding = [size // 2 for size in weight.shape[2:]]
    if x.is_cuda and not is_wrapped(x) and not is_wrapped(weight):
        return lone_conv2d(x, weight, bias, stride, padding, dilation, groups)
    thin = weight.shape[1:].numel() <= _PATCH_VALUES
    if not thin or x.dim() != 4 or groups != 1 or _pair(dilation) != (1, 1) or isinstance(padding, str):
        return NotImplemented
    result = patch_conv2d(x, weight, bias, _pair(stride), _pair(padding))
    # Only while a trace is recorded, which drops the convolution if all that is used is what it is pooled to.
    if _pair(stride) == (1, 1) and get_proxy_mode() is not None and not _needs_gradient(x):
        mode.convolution = _Convolution(result, x, weight, bias, _pair(padding))
    return result


def lone_conv2d(x: Tensor, weight: Tensor, *options: Any) -> Tensor:
    """Convolve for a member that is alone, on CUDA, in the layout that its tensor cores take.

    In torch's usual layout the library turns what goes in and what comes out, for every convolution anew.
    """
    layout = torch.channels_last if x.dim() == 4 else torch.contiguous_format
    return F.conv2d(x.contiguous(memory_format=layout), weight.contiguous(memory_format=layout), *options)


def _needs_gradient(x: Tensor) -> bool:
    while not x.requires_grad and is_wrapped(x):  # mapped tensors do not tell
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
    kernel = _pair(kernel_size)
    apart = kernel == _pair(stride or kernel) and _pair(padding) == (0, 0) and _pair(dilation) == (1, 1)
    if not apart or ceil_mode or return_indices:
        return NotImplemented
    made = mode.convolution
    if made is not None and made.result is x and conv_pool.pools_well(made.weight, x, kernel):
        return conv_pool.conv_pool2d(made.x, made.weight, made.bias, made.padding, kernel)
    if not x.is_cuda or not is_wrapped(x):
        return NotImplemented
    return max_pool2d_apart(x, kernel)


def _pair(value: int | Sequence[int]) -> tuple[int, ...]:
    return (value, value) if isinstance(value, int) else tuple(value)


def _dropout_rule(
    mode: MemberOperations,
    x: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    features: int = 0,
) -> Any:
    """Dropout of single values, or (``features`` = spatial dimensions) of whole feature maps."""
    if mode.noise is None:
        return NotImplemented
    if not training or p == 0:
        return x
    if p == 1:
        return x * 0
    shape = list(x.shape)
    if features:
        shape[-features:] = [1] * features
    return x * (mode.noise.keep(shape, p) * (1 / (1 - p)))


def _alpha_dropout_rule(
    mode: MemberOperations, x: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    """Dropout to SELU's lower limit, scaled so that mean and variance stay."""
    if mode.noise is None:
        return NotImplemented
    if not training or p == 0:
        return x
    limit, kept = -1.7580993408473766, 1 - p
    scale = (kept + limit**2 * kept * p) ** -0.5 if kept else 0.0
    dropped = torch.where(mode.noise.keep(x.shape, p), x, limit)
    return scale * dropped - scale * limit * p


def _rand_like_rule(mode: MemberOperations, x: Tensor, **options: Any) -> Any:
    return NotImplemented if mode.noise is None or options else mode.noise.uniform(x, x.shape)


def _randn_like_rule(mode: MemberOperations, x: Tensor, **options: Any) -> Any:
    return NotImplemented if mode.noise is None or options else mode.noise.normal(x, x.shape)


def _feature_dropout_rule(features: int) -> Callable[..., Any]:
    return lambda mode, *args, **kwargs: _dropout_rule(mode, *args, features=features, **kwargs)


_RULES: dict[Callable[..., Any], Callable[..., Any]] = {
    F.linear: _linear_rule,
    F.conv2d: _conv2d_rule,
    F.max_pool2d: _max_pool2d_rule,
    F.dropout: _dropout_rule,
    F.dropout1d: _feature_dropout_rule(1),
    F.dropout2d: _feature_dropout_rule(2),
    F.dropout3d: _feature_dropout_rule(3),
    F.alpha_dropout: _alpha_dropout_rule,
    torch.rand_like: _rand_like_rule,
    torch.randn_like: _randn_like_rule,
}


def member_forward(
    template: nn.Module,
    params: Mapping[str, Tensor],
    buffers: Mapping[str, Tensor],
    x: Tensor,
    key: Tensor | None,
) -> Tensor:
    """Run one member: the template's code with the member's tensors, and its noise when it trains."""
    with MemberOperations(None if key is None else Noise(key)):
        logits: Tensor = functional_call(template, ({**params}, {**buffers}), (x,))
    return logits
