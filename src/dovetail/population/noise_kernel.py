"""Noise in one pass over memory, as a Triton kernel for CUDA: the arithmetic of `draws`, in registers.

As single operations a normal number takes some eighty passes, each a kernel of its own. What is drawn as bits is the
same to the last one; logarithm and cosine may round otherwise than torch's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra import libdevice

_BLOCK = 1024


@triton.jit
def _hash64(x):
    x = (x ^ ((x >> 30) & 0x3FFFFFFFF)) * -0x40A7B892E31B1A47
    x = (x ^ ((x >> 27) & 0x1FFFFFFFFF)) * -0x6B2FB644ECCEEE15
    return x ^ ((x >> 31) & 0x1FFFFFFFF)


@triton.jit
def _hash32(x):
    x = (x ^ ((x >> 16) & 0xFFFF)) * 0x7FEB352D
    x = (x ^ ((x >> 15) & 0x1FFFF)) * -0x7B935975
    return x ^ ((x >> 16) & 0xFFFF)


@triton.jit
def _bits_at(key, site, place):
    own = _hash64(key + site).to(tl.int32)
    return _hash32(_hash32(place * -0x61C88647 + 1) ^ own)


@triton.jit
def _uniform_at(key, site, place):
    return ((_bits_at(key, site, place) >> 9).to(tl.float32) + 4194304.5) * (1.0 / 8388608.0)


@triton.jit
def _draw(out, keys, site, next_site, count, blocks, normal: tl.constexpr, block: tl.constexpr):
    """Draw ``block`` numbers of one key."""
    program = tl.program_id(0)
    of_key = program // blocks
    place = (program % blocks) * block + tl.arange(0, block)
    key = tl.load(keys + of_key)
    if normal:
        radius = tl.sqrt(-2.0 * libdevice.log(_uniform_at(key, site, place)))
        value = radius * libdevice.cos(6.283185307179586 * _uniform_at(key, next_site, place))
    else:
        value = _bits_at(key, site, place)
    tl.store(out + of_key.to(tl.int64) * count + place, value, mask=place < count)


def draw(key: Tensor, sites: Sequence[int], shape: Sequence[int]) -> Tensor:
    """Return for each key bits from one site (int32), or normal numbers from two (float32)."""
    normal = len(sites) == 2
    out = key.new_empty([*key.shape, *shape], dtype=torch.float32 if normal else torch.int32)
    count = math.prod(shape)
    blocks = triton.cdiv(count, _BLOCK)
    if out.numel():
        _draw[(key.numel() * blocks,)](
            out, key.contiguous(), sites[0], sites[-1], count, blocks, normal=normal, block=_BLOCK
        )
    return out
