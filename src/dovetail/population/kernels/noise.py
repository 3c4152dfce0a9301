"""Noise in one pass over memory, as a Triton kernel for CUDA.

The arithmetic of `population.random`, in registers; what is changed there must be changed here. As single operations
of torch a normal number takes some ninety kernels, forty of them over all numbers. Bits are the same to the last one;
logarithm, root and cosine may round otherwise than torch's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra import libdevice

from ..random import GOLDEN, GOLDEN_32, wrapped

_BLOCK = 1024
_STRIDE = tl.constexpr(GOLDEN_32)


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
    return _hash32(_hash32(place * _STRIDE + 1) ^ own)


@triton.jit
def _uniform_at(key, site, place):
    # 2**22 + 0.5 and 2**23, as in `random.unit_interval`.
    return ((_bits_at(key, site, place) >> 9).to(tl.float32) + 4194304.5) * (1.0 / 8388608.0)


@triton.jit(do_not_specialize=["site", "next_site"])
def _draw(out, keys, site, next_site, count, blocks, normal: tl.constexpr, block: tl.constexpr):
    """Draw ``block`` numbers of one key."""
    program = tl.program_id(0)
    of_key = program // blocks
    at = (program % blocks).to(tl.int64) * block + tl.arange(0, block)
    place = at.to(tl.int32)  # positions wrap, as torch's do
    key = tl.load(keys + of_key)
    if normal:
        radius = tl.sqrt(-2.0 * libdevice.log(_uniform_at(key, site, place)))
        value = radius * libdevice.cos(6.283185307179586 * _uniform_at(key, next_site, place))
    else:
        value = _bits_at(key, site, place)
    tl.store(out + of_key.to(tl.int64) * count + at, value, mask=at < count)


def draw(key: Tensor, site: int, normal: bool, shape: Sequence[int]) -> Tensor:
    """Return for each key bits (int32) or normal numbers (float32)."""
    out = key.new_empty([*key.shape, *shape], dtype=torch.float32 if normal else torch.int32)
    count = math.prod(shape)
    if out.numel():
        block = min(_BLOCK, triton.next_power_of_2(count))
        blocks = triton.cdiv(count, block)
        _draw[(key.numel() * blocks,)](
            out, key.contiguous(), wrapped(GOLDEN * site), wrapped(GOLDEN * (site + 1)), count, blocks,
            normal=normal, block=block,
        )  # fmt: skip
    return out
