"""Convolutions as products of the kernels with all patches of the input; a bias rides along as one more value."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor


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
