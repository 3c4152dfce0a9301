"""Random numbers that belong to a member, not to its place in the stack.

A counter-based generator: every number is a hash of (member's seed, stream, step, site, position). Nothing is
carried from call to call, so a member draws the same dropout noise, data order and augmentation whether it
trains alone, beside a thousand others, or after half of its neighbours have left. It is the same arithmetic
on CPU and CUDA, and it can be captured in a CUDA graph.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .draws import draw_bits, draw_normal, unit_interval
from .hashing import GOLDEN, hash64, wrapped


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
    """Return the keys of one moment: ``clock`` is a step or epoch number, for all or one for each key."""
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

    def bits(self, like: Tensor, shape: Sequence[int]) -> Tensor:
        """Return uniform int32 numbers of a shape (for each member), where the key is; ``like`` as in other draws."""
        self._sites += 1
        return draw_bits(self._key, self._sites, shape)

    def keep(self, like: Tensor, shape: Sequence[int], drop: float) -> Tensor:
        """Return a 0/1 mask that drops a share of the positions."""
        return self.bits(like, shape) >= min(int(drop * 2**32) - 2**31, 2**31 - 1)

    def uniform(self, like: Tensor, shape: Sequence[int]) -> Tensor:
        """Return numbers in (0, 1), of the type of ``like``."""
        return unit_interval(self.bits(like, shape), like.dtype)

    def normal(self, like: Tensor, shape: Sequence[int]) -> Tensor:
        """Return standard normal numbers, of the type of ``like``."""
        self._sites += 2
        return draw_normal(self._key, self._sites - 1, shape, like.dtype)
