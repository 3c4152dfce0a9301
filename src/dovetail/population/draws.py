"""Random bits and normal numbers from keys, position by position.

On CUDA `noise_kernel` draws them in one pass, as an operation of its own (``dovetail::draw``), so that `vmap` can map
it and a trace record it. Populations on the CPU draw by torch's operations; there, ``dovetail::draw`` only shows in
tests that mapping and tracing are right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .cuda import has_triton, on_device
from .hashing import GOLDEN, GOLDEN_32, hash32, hash64, wrapped


def draw_bits(key: Tensor, site: int, shape: Sequence[int]) -> Tensor:
    """Return uniform int32 numbers, other ones for each key and site.

    Parameters
    ----------
    key : Tensor
        int64, of any shape: the shape of the draws comes after it.
    site : int
        Tells draws with one key apart.
    shape : sequence of int
        How many numbers to draw for each key.
    """
    return _draw(key, site, False, shape) if _by_kernel(key) else _plain_bits(key, site, shape)


def draw_normal(key: Tensor, site: int, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Return standard normal numbers, from the bits of this site and the next.

    Parameters
    ----------
    key, site, shape
        As in `draw_bits`.
    dtype : torch.dtype
        Of the numbers. The kernel draws float32; for other types it draws the bits only.
    """
    if dtype == torch.float32 and _by_kernel(key):
        numbers: Tensor = _draw(key, site, True, shape)
        return numbers
    return _normal_of(draw_bits(key, site, shape), draw_bits(key, site + 1, shape), dtype)


def unit_interval(numbers: Tensor, dtype: torch.dtype) -> Tensor:
    """Return int32 numbers as numbers strictly between 0 and 1.

    23 of the bits and a half: all that float32 holds exactly, so that no end of the interval is ever met.
    """
    return ((numbers >> 9).to(dtype) + (2**22 + 0.5)) / 2**23


def _plain_bits(key: Tensor, site: int, shape: Sequence[int]) -> Tensor:
    own = hash64(key + wrapped(GOLDEN * site)).to(torch.int32)
    position = torch.arange(math.prod(shape), dtype=torch.int32, device=key.device).view(tuple(shape))
    # Two rounds of the hash: keys that differ by a multiple of the stride must not give shifted copies.
    return hash32(hash32(position * GOLDEN_32 + 1) ^ own.view([*own.shape, *[1] * len(shape)]))


def _normal_of(first: Tensor, second: Tensor, dtype: torch.dtype) -> Tensor:
    radius = torch.sqrt(-2 * torch.log(unit_interval(first, dtype)))
    return radius * torch.cos(2 * math.pi * unit_interval(second, dtype))


def _by_kernel(key: Tensor) -> bool:
    return key.is_cuda and has_triton()


@torch.library.custom_op(
    "dovetail::draw",
    mutates_args=(),
    device_types="cpu",
    schema="(Tensor key, int site, bool normal, SymInt[] shape) -> Tensor",
)
def _draw(key: Tensor, site: int, normal: bool, shape: Sequence[int]) -> Tensor:
    """Return bits (int32) or normal numbers (float32) by torch's operations, in the kernel's layout."""
    own = key.contiguous()
    bits = _plain_bits(own, site, shape)
    return _normal_of(bits, _plain_bits(own, site + 1, shape), torch.float32) if normal else bits


@_draw.register_kernel("cuda")
def _(key: Tensor, site: int, normal: bool, shape: Sequence[int]) -> Tensor:
    from .noise_kernel import draw

    with on_device(key.device):
        return draw(key, site, normal, shape)


@_draw.register_fake
def _(key: Tensor, site: int, normal: bool, shape: Sequence[int]) -> Tensor:
    return key.new_empty([*key.shape, *shape], dtype=torch.float32 if normal else torch.int32)


@_draw.register_vmap
def _(
    info: Any, in_dims: Any, key: Tensor, site: int, normal: bool, shape: Sequence[int]
) -> tuple[Tensor, int]:
    return _draw(key.movedim(in_dims[0], 0), site, normal, shape), 0
