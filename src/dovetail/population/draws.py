"""Random bits and normal numbers from keys, position by position.

On CUDA `noise_kernel` draws them in one pass. That is an operation of its own (``dovetail::draw_bits``,
``dovetail::draw_normal``), so that `vmap` can map it and a trace record it. Populations on the CPU draw by torch's
operations; there, the two only show in tests that mapping and tracing are right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .hashing import GOLDEN, GOLDEN_32, hash32, hash64, wrapped
from .triton_found import has_triton


def bits(key: Tensor, site: int, shape: Sequence[int]) -> Tensor:
    """Return uniform int32 numbers of a shape, for each key and site others.

    Parameters
    ----------
    key : Tensor
        int64, of any shape: the shape of the draws comes after it.
    site : int
        Tells draws with one key apart.
    shape : sequence of int
        How many numbers to draw for each key.
    """
    if _by_kernel(key):
        drawn: Tensor = draw_bits(key, site, shape)
        return drawn
    return _plain_bits(key, site, shape)


def normal(key: Tensor, site: int, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Return standard normal numbers, from the bits of this site and the next."""
    if dtype == torch.float32 and _by_kernel(key):
        drawn: Tensor = draw_normal(key, site, shape)
        return drawn
    return _plain_normal(key, site, shape, dtype)


def unit_interval(bits: Tensor, dtype: torch.dtype) -> Tensor:
    """Return int32 numbers as numbers strictly between 0 and 1.

    23 of the bits and a half: all that float32 holds exactly, so that no end of the interval is ever met.
    """
    return ((bits >> 9).to(dtype) + (2**22 + 0.5)) / 2**23


def _plain_bits(key: Tensor, site: int, shape: Sequence[int]) -> Tensor:
    own = hash64(key + wrapped(GOLDEN * site)).to(torch.int32)
    position = torch.arange(math.prod(shape), dtype=torch.int32, device=key.device).view(tuple(shape))
    # Two rounds of the hash: keys that differ by a multiple of the stride must not give shifted copies.
    return hash32(hash32(position * GOLDEN_32 + 1) ^ own.view([*own.shape, *[1] * len(shape)]))


def _plain_normal(key: Tensor, site: int, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    radius, angle = (unit_interval(bits(key, one, shape), dtype) for one in (site, site + 1))
    return torch.sqrt(-2 * torch.log(radius)) * torch.cos(2 * math.pi * angle)


def _by_kernel(key: Tensor) -> bool:
    return key.is_cuda and has_triton()


_SCHEMA = "(Tensor key, int site, SymInt[] shape) -> Tensor"


@torch.library.custom_op("dovetail::draw_bits", mutates_args=(), device_types="cpu", schema=_SCHEMA)
def draw_bits(key: Tensor, site: int, shape: Sequence[int]) -> Tensor:
    """Do as `bits` does."""
    return _plain_bits(key, site, shape)


@torch.library.custom_op("dovetail::draw_normal", mutates_args=(), device_types="cpu", schema=_SCHEMA)
def draw_normal(key: Tensor, site: int, shape: Sequence[int]) -> Tensor:
    """Do as `normal` does, in float32."""
    return _plain_normal(key, site, shape, torch.float32)


@draw_bits.register_kernel("cuda")
def _(key: Tensor, site: int, shape: Sequence[int]) -> Tensor:
    from .noise_kernel import draw

    return draw(key, [wrapped(GOLDEN * site)], shape)


@draw_normal.register_kernel("cuda")
def _(key: Tensor, site: int, shape: Sequence[int]) -> Tensor:
    from .noise_kernel import draw

    return draw(key, [wrapped(GOLDEN * one) for one in (site, site + 1)], shape)


@draw_bits.register_fake
def _(key: Tensor, site: int, shape: Sequence[int]) -> Tensor:
    return key.new_empty([*key.shape, *shape], dtype=torch.int32)


@draw_normal.register_fake
def _(key: Tensor, site: int, shape: Sequence[int]) -> Tensor:
    return key.new_empty([*key.shape, *shape], dtype=torch.float32)


@draw_bits.register_vmap
def _(info: Any, in_dims: Any, key: Tensor, site: int, shape: Sequence[int]) -> tuple[Tensor, int]:
    return draw_bits(key.movedim(in_dims[0], 0), site, shape), 0


@draw_normal.register_vmap
def _(info: Any, in_dims: Any, key: Tensor, site: int, shape: Sequence[int]) -> tuple[Tensor, int]:
    return draw_normal(key.movedim(in_dims[0], 0), site, shape), 0
