"""Random numbers that belong to a member, not to its place in the stack.

A counter-based generator: every number is a hash of (member's seed, stream, step, site, position). Nothing is
carried from call to call, so a member draws the same dropout noise, data order and augmentation whether it
trains alone, beside a thousand others, or after half of its neighbours have left. It is the same arithmetic
on CPU and CUDA, and it can be captured in a CUDA graph.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

_GOLDEN = -0x61C8864680B583EB  # 2**64 / golden ratio, as a signed 64-bit number
_GOLDEN_32 = -0x61C88647


def _wrapped(number: int) -> int:
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


def member_keys(seeds: Sequence[int], stream: int = 0, device: torch.device | str | None = None) -> Tensor:
    """Return one int64 key per seed; other streams of the same seeds are unrelated.

    Examples
    --------
    >>> a, b = member_keys([3, 3])
    >>> bool(a == b), bool(a == member_keys([3], stream=1)[0])
    (True, False)
    """
    keys = hash64(torch.tensor([_wrapped(int(seed)) for seed in seeds], dtype=torch.int64) + _GOLDEN)
    return hash64(keys + _wrapped(_GOLDEN * (stream + 2))).to(device)


def keys_at(keys: Tensor, clock: Tensor) -> Tensor:
    """Return the keys of one moment: ``clock`` is a step or epoch number, for all or one for each key."""
    return hash64(keys ^ (_GOLDEN * (clock + 1)))


def unit_interval(bits: Tensor, dtype: torch.dtype) -> Tensor:
    """Return int32 numbers as numbers strictly between 0 and 1.

    23 of the bits and a half: all that float32 holds exactly, so that no end of the interval is ever met.
    """
    return ((bits >> 9).to(dtype) + (2**22 + 0.5)) / 2**23


class Noise:
    """Noise for one member at one step, for use inside a function that is mapped over members.

    Parameters
    ----------
    key : Tensor
        The member's key at this step: a scalar, or ``[members]`` outside of a mapped function.

    Notes
    -----
    Every draw is a new *site*: two draws at one step are independent.

    Examples
    --------
    An augmentation for `Population.fit` that adds a little noise to every input:

    >>> def blur(x, noise):
    ...     return x + 0.1 * noise.normal(x, x.shape[1:])
    >>> x = torch.zeros(2, 8, 4)  # [members, batch, ...]
    >>> blur(x, Noise(member_keys([0, 1]))).shape
    torch.Size([2, 8, 4])
    """

    def __init__(self, key: Tensor) -> None:
        self._key = key
        self._sites = 0

    def bits(self, like: Tensor, shape: Sequence[int]) -> Tensor:
        """Return uniform int32 numbers of a shape (for each member), on the device of ``like``."""
        self._sites += 1
        key = hash64(self._key + _wrapped(_GOLDEN * self._sites)).to(torch.int32)
        count = math.prod(shape)
        position = torch.arange(count, dtype=torch.int32, device=like.device).view(*shape)
        # Two rounds of the hash: keys that differ by a multiple of the stride must not give shifted copies.
        return hash32(hash32(position * _GOLDEN_32 + 1) ^ key.view(*key.shape, *[1] * len(shape)))

    def keep(self, like: Tensor, shape: Sequence[int], drop: float) -> Tensor:
        """Return a 0/1 mask that drops a share of the positions."""
        return self.bits(like, shape) >= min(int(drop * 2**32) - 2**31, 2**31 - 1)

    def uniform(self, like: Tensor, shape: Sequence[int]) -> Tensor:
        """Return numbers in (0, 1), of the type of ``like``."""
        return unit_interval(self.bits(like, shape), like.dtype)

    def normal(self, like: Tensor, shape: Sequence[int]) -> Tensor:
        """Return standard normal numbers, of the type of ``like``."""
        radius = torch.sqrt(-2 * torch.log(self.uniform(like, shape)))
        return radius * torch.cos(2 * math.pi * self.uniform(like, shape))
