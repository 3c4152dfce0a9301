"""A first convolution and the max-pooling after it as one operation, without the convolution's output.

A convolution over few input values gives out many times what it reads, and pooling keeps a quarter of that. So on
CUDA `kernels.conv_pool` computes a window's values, keeps the largest and its place, and writes only these; the
kernels' gradient comes from the places, patches being read anew from the input. The two passes are operations of
their own (``dovetail::conv_pool``, ``dovetail::conv_pool_kernels``), so that `vmap` can map them and a trace record
them. Populations on the CPU use torch's own; there, the two operations only show in tests that mapping and tracing
are right.

In both, images are padded already, kernels are rows (`patches.kernels_of`), and leading dimensions are members, which
one of the tensors may lack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ..kernels import has_triton, on_device
from .convolution import kernels_of, pad, patches_of, product
from .pooling import at_places, max_pool, spread, unpool

_MOST_VALUES = 32
"""Largest patch, bias included: more would not fit into registers together with the windows."""

_MOST_PLACES = 16
"""Largest window: every place in it reads patches anew."""


@torch.library.custom_op(
    "dovetail::conv_pool",
    mutates_args=(),
    device_types="cpu",
    schema="(Tensor x, Tensor kernels, SymInt[] size, SymInt[] window) -> (Tensor, Tensor)",
)
def conv_pool(
    x: Tensor, kernels: Tensor, size: Sequence[int], window: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Return each window's maximum of the convolution and, as uint8, its place in the window."""
    patches = patches_of(x, size, bias=_has_bias(x, kernels.shape[-1], size))
    pooled: tuple[Tensor, Tensor] = max_pool(product(kernels.unsqueeze(-3), patches), window)
    return pooled


@torch.library.custom_op(
    "dovetail::conv_pool_kernels",
    mutates_args=(),
    device_types="cpu",
    schema="(Tensor gradient, Tensor places, Tensor x, SymInt[] size, SymInt[] window, SymInt values) -> Tensor",
)
def kernel_gradient(
    gradient: Tensor, places: Tensor, x: Tensor, size: Sequence[int], window: Sequence[int], values: int
) -> Tensor:
    """Return the gradient of kernels of a number of values, from that of the pooled values."""
    patches = patches_of(x, size, bias=_has_bias(x, values, size))
    whole = spread(gradient, places, patches.shape[-2:], window)
    of_samples: Tensor = whole.flatten(-2) @ patches.flatten(-2).mT
    return of_samples.sum(-3)


@conv_pool.register_kernel("cuda")
def _(x: Tensor, kernels: Tensor, size: Sequence[int], window: Sequence[int]) -> tuple[Tensor, Tensor]:
    from ..kernels import conv_pool as conv_pool_kernel

    with on_device(x.device):
        return conv_pool_kernel.conv_pool(x, kernels, size, window)


@kernel_gradient.register_kernel("cuda")
def _(
    gradient: Tensor, places: Tensor, x: Tensor, size: Sequence[int], window: Sequence[int], values: int
) -> Tensor:
    from ..kernels import conv_pool as conv_pool_kernel

    with on_device(x.device):
        return conv_pool_kernel.kernel_gradient(gradient, places, x, size, window, values)


@conv_pool.register_fake
def _(x: Tensor, kernels: Tensor, size: Sequence[int], window: Sequence[int]) -> tuple[Tensor, Tensor]:
    members = torch.broadcast_shapes(x.shape[:-4], kernels.shape[:-2])
    rows, cols = (whole // side for whole, side in zip(_conv_size(x, size), window, strict=True))
    pooled = x.new_empty(*members, x.shape[-4], kernels.shape[-2], rows, cols)
    return pooled, torch.empty_like(pooled, dtype=torch.uint8)


@kernel_gradient.register_fake
def _(
    gradient: Tensor, places: Tensor, x: Tensor, size: Sequence[int], window: Sequence[int], values: int
) -> Tensor:
    members = torch.broadcast_shapes(gradient.shape[:-4], places.shape[:-4], x.shape[:-4])
    return gradient.new_empty(*members, gradient.shape[-3], values)


@conv_pool.register_vmap
def _(
    info: Any, in_dims: Any, x: Tensor, kernels: Tensor, size: Sequence[int], window: Sequence[int]
) -> tuple[tuple[Tensor, Tensor], tuple[int, int]]:
    x, kernels = _members_first((x, kernels), in_dims, (4, 2))
    return conv_pool(x, kernels, size, window), (0, 0)


@kernel_gradient.register_vmap
def _(
    info: Any,
    in_dims: Any,
    gradient: Tensor,
    places: Tensor,
    x: Tensor,
    size: Sequence[int],
    window: Sequence[int],
    values: int,
) -> tuple[Tensor, int]:
    gradient, places, x = _members_first((gradient, places, x), in_dims, (4, 4, 4))
    return kernel_gradient(gradient, places, x, size, window, values), 0


def _members_first(tensors: Sequence[Tensor], dims: Sequence[int | None], own: Sequence[int]) -> list[Tensor]:
    """Put the mapped dimension in front of all members' dimensions, so that tensors still broadcast."""
    given = list(zip(tensors, dims, own, strict=False))
    most = max(t.dim() - (dim is not None) - mine for t, dim, mine in given)
    return [
        t if dim is None else t.movedim(dim, 0).unflatten(0, (-1, *[1] * (most + 1 + mine - t.dim())))
        for t, dim, mine in given
    ]


def _conv_size(x: Tensor, size: Sequence[int]) -> tuple[int, int]:
    return x.shape[-2] - size[0] + 1, x.shape[-1] - size[1] + 1


def _has_bias(x: Tensor, values: int, size: Sequence[int]) -> bool:
    return values > x.shape[-3] * size[0] * size[1]


class _KernelGradient(torch.autograd.Function):
    """The kernels' gradient, itself with one: `torch.func` asks for it even where no one wants it."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        gradient: Tensor,
        places: Tensor,
        x: Tensor,
        size: tuple[int, ...],
        window: tuple[int, ...],
        values: int,
    ) -> Tensor:
        result: Tensor = kernel_gradient(gradient, places, x, size, window, values)
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        gradient, places, x, ctx.size, ctx.window, _ = inputs
        ctx.save_for_backward(gradient, places, x)

    @staticmethod
    def backward(ctx: Any, change: Tensor) -> tuple[Tensor | None, ...]:
        gradient, places, x = ctx.saved_tensors
        patches = patches_of(x, ctx.size, bias=_has_bias(x, change.shape[-1], ctx.size))
        by_gradient = at_places(product(change, patches), places, ctx.window)
        by_x = _x_gradient(gradient, places, x, change, ctx) if ctx.needs_input_grad[2] else None
        return by_gradient, None, by_x, None, None, None


class _ConvPool(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(
        x: Tensor, kernels: Tensor, size: tuple[int, ...], window: tuple[int, ...]
    ) -> tuple[Tensor, Tensor]:
        pooled: tuple[Tensor, Tensor] = conv_pool(x, kernels, size, window)
        return pooled

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        x, kernels, ctx.size, ctx.window = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(x, kernels, output[1])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        x, kernels, places = ctx.saved_tensors
        needs_x, needs_kernels, *_ = ctx.needs_input_grad
        by_x = _x_gradient(gradient, places, x, kernels, ctx) if needs_x else None
        by_kernels = None
        if needs_kernels:
            by_kernels = _KernelGradient.apply(gradient, places, x, ctx.size, ctx.window, kernels.shape[-1])  # type: ignore[no-untyped-call]
        return by_x, by_kernels, None, None


def _x_gradient(gradient: Tensor, places: Tensor, x: Tensor, kernels: Tensor, ctx: Any) -> Tensor:
    """Return the input's gradient, by way of the convolution's whole output: first layers do not ask for it."""
    whole = unpool(gradient, places, _conv_size(x, ctx.size), ctx.window)
    values = x.shape[-3] * ctx.size[0] * ctx.size[1]
    weight = kernels[:, :values].unflatten(1, (x.shape[-3], *ctx.size))
    return F.conv_transpose2d(whole, weight)


def conv_pool2d(
    x: Tensor, weight: Tensor, bias: Tensor | None, padding: Sequence[int], window: tuple[int, ...]
) -> Tensor:
    """Convolution of stride 1, then max-pooling without overlap."""
    size = tuple(weight.shape[2:])
    values, _ = _ConvPool.apply(pad(x, padding), kernels_of(weight, bias), size, window)  # type: ignore[no-untyped-call]
    result: Tensor = values
    return result


def pools_well(weight: Tensor, convolved: Tensor, window: Sequence[int]) -> bool:
    """Whether the kernels take this convolution and these windows; errors are left to torch."""
    small = weight.shape[1:].numel() < _MOST_VALUES and window[0] * window[1] <= _MOST_PLACES
    fits = window[0] <= convolved.shape[-2] and window[1] <= convolved.shape[-1]
    return small and fits and convolved.is_cuda and convolved.dtype == torch.float32 and has_triton()
