"""Max-pooling without overlap, with a backward pass of its own.

No two windows share a position, so gradients are put, not added. On CUDA `kernels.pool` does that in one pass each
way; the two passes are operations of their own (``dovetail::max_pool``, ``dovetail::max_pool_spread``), so that
`vmap` can map them and a trace record them. Populations on the CPU use torch's own pooling; there, the two
operations only show in tests that mapping and tracing are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ..kernels import has_triton, on_device


@torch.library.custom_op(
    "dovetail::max_pool",
    mutates_args=(),
    device_types="cpu",
    schema="(Tensor x, SymInt[] kernel) -> (Tensor, Tensor)",
)
def max_pool(x: Tensor, kernel: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return each window's maximum and, as uint8, its place in the window; any number of leading dimensions."""
    values, positions = F.max_pool2d(x.flatten(0, -3), tuple(kernel), return_indices=True)
    width = x.shape[-1]
    places = positions // width % kernel[0] * kernel[1] + positions % width % kernel[1]
    shape = (*x.shape[:-2], *values.shape[-2:])
    return values.view(shape), places.to(torch.uint8).view(shape)


@torch.library.custom_op(
    "dovetail::max_pool_spread",
    mutates_args=(),
    device_types="cpu",
    schema="(Tensor gradient, Tensor places, SymInt[] size, SymInt[] kernel) -> Tensor",
)
def spread(gradient: Tensor, places: Tensor, size: Sequence[int], kernel: Sequence[int]) -> Tensor:
    """Return the input's gradient, of this height and width: each window's at its place, zero elsewhere."""
    every = torch.arange(kernel[0] * kernel[1], device=places.device)
    windows = torch.where(places.unsqueeze(-1) == every, gradient.unsqueeze(-1), 0)
    whole = windows.unflatten(-1, tuple(kernel)).transpose(-3, -2).flatten(-4, -3).flatten(-2)
    return F.pad(whole, (0, size[1] - whole.shape[-1], 0, size[0] - whole.shape[-2]))


@max_pool.register_kernel("cuda")
def _(x: Tensor, kernel: Sequence[int]) -> tuple[Tensor, Tensor]:
    from ..kernels import pool as pool_kernel

    with on_device(x.device):
        return pool_kernel.max_pool(x, kernel)


@spread.register_kernel("cuda")
def _(gradient: Tensor, places: Tensor, size: Sequence[int], kernel: Sequence[int]) -> Tensor:
    from ..kernels import pool as pool_kernel

    with on_device(gradient.device):
        return pool_kernel.spread(gradient, places, size, kernel)


@max_pool.register_fake
def _(x: Tensor, kernel: Sequence[int]) -> tuple[Tensor, Tensor]:
    values = x.new_empty(*x.shape[:-2], x.shape[-2] // kernel[0], x.shape[-1] // kernel[1])
    return values, torch.empty_like(values, dtype=torch.uint8)


@spread.register_fake
def _(gradient: Tensor, places: Tensor, size: Sequence[int], kernel: Sequence[int]) -> Tensor:
    return gradient.new_empty(*gradient.shape[:-2], *size)


@max_pool.register_vmap
def _(
    info: Any, in_dims: Any, x: Tensor, kernel: Sequence[int]
) -> tuple[tuple[Tensor, Tensor], tuple[int, int]]:
    return max_pool(x.movedim(in_dims[0], 0), kernel), (0, 0)


@spread.register_vmap
def _(
    info: Any, in_dims: Any, gradient: Tensor, places: Tensor, size: Sequence[int], kernel: Sequence[int]
) -> tuple[Tensor, int]:
    gradient, places = (
        t.expand(info.batch_size, *t.shape) if dim is None else t.movedim(dim, 0)
        for t, dim in zip((gradient, places), in_dims[:2], strict=True)
    )
    return spread(gradient, places, size, kernel), 0


def _by_kernel(x: Tensor, kernel: Sequence[int]) -> bool:
    """Whether the kernels take this input: they keep a place in a byte, and leave errors to torch."""
    fits = kernel[0] * kernel[1] <= 256 and x.shape[-2] >= kernel[0] and x.shape[-1] >= kernel[1]
    return fits and x.is_cuda and x.dtype == torch.float32 and has_triton()


def at_places(x: Tensor, places: Tensor, kernel: Sequence[int]) -> Tensor:
    """Return what stands at each window's place: the reverse of `spread`."""
    (height, width), (rows, cols) = kernel, places.shape[-2:]
    whole = x[..., : rows * height, : cols * width]
    windows: Tensor = (
        whole.unflatten(-1, (cols, width)).unflatten(-3, (rows, height)).transpose(-3, -2).flatten(-2)
    )
    return windows.gather(-1, places.long().unsqueeze(-1)).squeeze(-1)


class _Spread(torch.autograd.Function):
    """The backward pass, itself with one: `torch.func` asks for it even where no one wants second derivatives."""

    generate_vmap_rule = True

    @staticmethod
    def forward(gradient: Tensor, places: Tensor, size: tuple[int, ...], kernel: tuple[int, ...]) -> Tensor:
        x_gradient: Tensor = spread(gradient, places, size, kernel)
        return x_gradient

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, places, _, ctx.kernel = inputs
        ctx.save_for_backward(places)

    @staticmethod
    def backward(ctx: Any, change: Tensor) -> tuple[Tensor, None, None, None]:
        (places,) = ctx.saved_tensors
        return at_places(change, places, ctx.kernel), None, None, None


def unpool(gradient: Tensor, places: Tensor, size: Sequence[int], kernel: Sequence[int]) -> Tensor:
    """Do as `spread` does, with a backward pass."""
    x_gradient: Tensor = _Spread.apply(gradient, places, tuple(size), tuple(kernel))  # type: ignore[no-untyped-call]
    return x_gradient


class _MaxPool(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, kernel: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        pooled: tuple[Tensor, Tensor] = (
            max_pool(x, kernel) if _by_kernel(x, kernel) else F.max_pool2d(x, kernel, return_indices=True)
        )
        return pooled

    @staticmethod
    def setup_context(
        ctx: Any, inputs: tuple[Tensor, tuple[int, ...]], output: tuple[Tensor, Tensor]
    ) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1])
        ctx.input_shape, ctx.kernel = inputs[0].shape, inputs[1]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor, None]:
        (places,) = ctx.saved_tensors
        if places.dtype == torch.uint8:
            return unpool(gradient, places, ctx.input_shape[-2:], ctx.kernel), None
        zeros = gradient.new_zeros(ctx.input_shape).flatten(-2)
        return zeros.scatter(-1, places.flatten(-2), gradient.flatten(-2)).view(ctx.input_shape), None


def max_pool2d_apart(x: Tensor, kernel: tuple[int, ...]) -> Tensor:
    """Max-pooling without overlap, with a backward pass of its own."""
    values, _ = _MaxPool.apply(x, kernel)  # type: ignore[no-untyped-call]
    result: Tensor = values
    return result
