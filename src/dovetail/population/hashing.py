"""Hashes that turn counters into random bits; `noise_kernel` has them a second time, in Triton's words."""

from __future__ import annotations

from torch import Tensor

GOLDEN = -0x61C8864680B583EB  # 2**64 / golden ratio, as a signed 64-bit number
GOLDEN_32 = -0x61C88647  # the same of 2**32


def wrapped(number: int) -> int:
    """Return the number as a signed 64-bit one, as int64 arithmetic would wrap it."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def hash64(x: Tensor) -> Tensor:
    """Scramble int64 values so that every bit of the result depends on every bit of the input."""
    x = (x ^ ((x >> 30) & 0x3FFFFFFFF)) * -0x40A7B892E31B1A47
    x = (x ^ ((x >> 27) & 0x1FFFFFFFFF)) * -0x6B2FB644ECCEEE15
    return x ^ ((x >> 31) & 0x1FFFFFFFF)


def hash32(x: Tensor) -> Tensor:
    """Scramble int32 values; half the memory traffic of `hash64`, for noise as large as the activations."""
    x = (x ^ ((x >> 16) & 0xFFFF)) * 0x7FEB352D
    x = (x ^ ((x >> 15) & 0x1FFFF)) * -0x7B935975
    return x ^ ((x >> 16) & 0xFFFF)
