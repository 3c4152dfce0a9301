"""Convolutions of members: thin ones by patches, others on the CPU one by one; alone on CUDA in channels-last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .one_by_one import is_mapped, one_by_one

_PATCH_VALUES = 80
"""Largest patch (input channels × kernel area) for which a convolution is done as a product of patches."""


def pair(value: int | Sequence[int]) -> tuple[int, ...]:
    """Return a size for both dimensions."""
    return (value, value) if isinstance(value, int) else tuple(value)


def plain_padding(padding: int | str | Sequence[int], weight: Tensor) -> int | str | Sequence[int]:
    """Return a padding given by name as numbers, where it is the same on both sides."""
    if padding == "valid":
        return 0
    if padding == "same" and all(size % 2 for size in weight.shape[2:]):
        return [size // 2 for size in weight.shape[2:]]
    return padding


def is_thin(x: Tensor, weight: Tensor, padding: Any, dilation: Any, groups: int) -> bool:
    """Whether a convolution is done as a product of patches."""
    thin = weight.shape[1:].numel() <= _PATCH_VALUES and x.dim() == 4
    return thin and groups == 1 and pair(dilation) == (1, 1) and not isinstance(padding, str)


def conv2d(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """Convolve in the wording that is best for a stack; ``NotImplemented`` leaves it to torch."""
    alone = not is_mapped(x) and not is_mapped(weight)
    if x.is_cuda and alone:
        return lone_conv2d(x, weight, bias, stride, padding, dilation, groups)
    if is_thin(x, weight, padding, dilation, groups):
        return patch_conv2d(x, weight, bias, pair(stride), pair(padding))
    if alone or x.is_cuda or x.dim() != 4 or isinstance(padding, str):
        return NotImplemented
    return one_by_one(F.conv2d, x, weight, bias, stride, padding, dilation, groups)


def lone_conv2d(x: Tensor, weight: Tensor, *options: Any) -> Tensor:
    """Convolve for a member that is alone, on CUDA, in the layout that its tensor cores take.

    In torch's usual layout the library turns what goes in and what comes out, for every convolution anew.
    """
    layout = torch.channels_last if x.dim() == 4 else torch.contiguous_format
    return F.conv2d(x.contiguous(memory_format=layout), weight.contiguous(memory_format=layout), *options)


def pad(x: Tensor, padding: Sequence[int]) -> Tensor:
    """Put zeros around images: some rows above and below, some columns left and right."""
    return F.pad(x, (padding[1], padding[1], padding[0], padding[0]))


def patches_of(x: Tensor, size: Sequence[int], stride: Sequence[int] = (1, 1), *, bias: bool) -> Tensor:
    """Return what kernels of this size see at every position, ``[..., values, rows, columns]``.

    With ``bias``, one more value is 1 everywhere.
    """
    windows = x.unfold(-2, size[0], stride[0]).unfold(-2, size[1], stride[1])
    patches = windows.movedim((-2, -1), (-4, -3)).flatten(-5, -3)
    return torch.cat([patches, torch.ones_like(patches[..., :1, :, :])], -3) if bias else patches


def kernels_of(weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return a convolution's kernels as rows."""
    kernels = weight.flatten(1)
    return kernels if bias is None else torch.cat([kernels, bias.unsqueeze(1)], 1)


def product(kernels: Tensor, patches: Tensor) -> Tensor:
    """Return the convolution ``[..., outputs, rows, columns]``."""
    convolved: Tensor = (kernels @ patches.flatten(-2)).unflatten(-1, patches.shape[-2:])
    return convolved


def patch_conv2d(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Sequence[int], padding: Sequence[int]
) -> Tensor:
    """Convolution as a product of patches."""
    patches = patches_of(pad(x, padding), weight.shape[2:], stride, bias=bias is not None)
    return product(kernels_of(weight, bias), patches)
