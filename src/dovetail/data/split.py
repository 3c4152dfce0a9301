"""A split: samples and their targets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from ..errors import DataError

Task = Literal["classes", "bits", "values"]
"""What ``y`` holds: a class id per sample, a row of 0/1 bits, or a row of real values."""


@dataclass(frozen=True, eq=False)
class Split:
    """Samples and their targets, one row each.

    Attributes
    ----------
    x : Tensor
        Inputs, ``[samples, ...]``, floating point.
    y : Tensor
        Targets: class ids ``[samples]`` (int64), or rows of bits or values ``[samples, outputs]``.

    Examples
    --------
    >>> split = Split(torch.zeros(3, 2), torch.tensor([0, 1, 1]))
    >>> len(split), len(split.where(split.y == 1))
    (3, 2)
    """

    x: Tensor
    y: Tensor

    def __post_init__(self) -> None:
        for name in ("x", "y"):
            if not isinstance(getattr(self, name), Tensor):
                kind = type(getattr(self, name)).__name__
                raise DataError(f"{name} of a split must be a torch tensor, not {kind}; use torch.as_tensor")
        if len(self.x) != len(self.y):
            raise DataError(
                f"a split needs one target per sample: {len(self.x)} samples, {len(self.y)} targets"
            )

    def __len__(self) -> int:
        return len(self.x)

    def __iter__(self) -> Iterator[Tensor]:
        """Unpack as ``x, y = split``."""
        return iter((self.x, self.y))

    def where(self, keep: Tensor) -> Split:
        """Return the samples at ``keep``: a 0/1 mask over the samples, or their indices."""
        return Split(self.x[keep], self.y[keep])

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Split:
        """Return the split on another device, and its floating-point tensors in another type."""
        x, y = (t.to(device=device, dtype=dtype if t.is_floating_point() else None) for t in self)
        return self if x is self.x and y is self.y else Split(x, y)


def is_finite(values: Tensor) -> bool:
    """Whether a tensor holds neither NaN nor infinity.

    Examples
    --------
    >>> is_finite(torch.tensor([1.0, 2.0])), is_finite(torch.tensor([1.0, torch.nan]))
    (True, False)
    """
    # Extremes are NaN where any value is, and one pass finds both: ten times as fast as isfinite(values).all().
    return not values.numel() or all(math.isfinite(extreme) for extreme in values.detach().aminmax())
