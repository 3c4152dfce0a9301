"""Random numbers that belong to a member, not to its place in the stack.

A counter-based generator: every number is a hash of (member's seed, stream, step, site, position). Nothing is
carried from call to call, so a member draws the same dropout noise, data order and augmentation whether it
trains alone, beside a thousand others, or after half of its neighbours have left. It is the same arithmetic
on CPU and CUDA, and it can be captured in a CUDA graph.

On CUDA `kernels.noise` draws in one pass, as an operation of its own (``dovetail::draw``), so that `vmap` can map it
and a trace record it; it has the hashes a second time, in Triton's words. Populations on the CPU draw by torch's
operations; there, ``dovetail::draw`` only shows in tests that mapping and tracing are right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .kernels import has_triton, on_device

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


def member_keys(seeds: Sequence[int], stream: int = 0, device: torch.device | str | None = None) -> Tensor:
    """Return one int64 key per seed; other streams of the same seeds are unrelated.

    Examples
    --------
    >>> a, b = member_keys([3, 3])
    >>> bool(a == b), bool(a == member_keys([3], stream=1)[0])
    (True, False)
    """
    keys = hash64(torch.tensor([wrapped(int(seed)) for seed in seeds], dtype=torch.int64) + GOLDEN)
    return hash64(keys + wrapped(GOLDEN * (stream + 2))).to(device)


def keys_at(keys: Tensor, clock: Tensor) -> Tensor:
    """Return the keys of one step or epoch: ``clock`` is its number, one for all or one for each key."""
    return hash64(keys ^ (GOLDEN * (clock + 1)))


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

    def bits(self, shape: Sequence[int]) -> Tensor:
        """Return uniform int32 numbers of a shape (for each member), where the key is."""
        self._sites += 1
        return draw_bits(self._key, self._sites, shape)

    def keep(self, shape: Sequence[int], drop: float) -> Tensor:
        """Return a mask, bool, that drops a share of the positions."""
        return self.bits(shape) >= min(int(drop * 2**32) - 2**31, 2**31 - 1)

    def uniform(self, like: Tensor, shape: Sequence[int]) -> Tensor:
        """Return numbers in (0, 1), of the type of ``like``."""
        return unit_interval(self.bits(shape), like.dtype)

    def normal(self, like: Tensor, shape: Sequence[int]) -> Tensor:
        """Return standard normal numbers, of the type of ``like``."""
        self._sites += 2
        return draw_normal(self._key, self._sites - 1, shape, like.dtype)


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
    from .kernels.noise import draw

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
