"""A basis: random features of inputs in whole numbers, the same on every machine, from which sums are made.

An input becomes whole numbers (`Basis.numbers`), each alone and without a look at any other. Products of these with
random whole numbers are exact however they are added up; what is left are a division, a square root and a rounding,
which IEEE arithmetic fixes to the last bit. So features (`Basis.features`) depend neither on the device nor on threads,
nor on who computes them.
"""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache
from typing import Annotated

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from ...errors import ShapeError

LARGEST_NUMBER = 2**15 - 1
"""Of what an input becomes: int16."""
LARGEST_FEATURE = 2**7 - 1
"""Few enough bits that products of a thousand samples stay exact in float32, TF32 and bfloat16 (`exact`)."""
UNIT = 32
"""What 1 is as a feature: they are rounded to steps of 1/32, and cut off at 127/32, four standard deviations."""
_BYTES = 8
_DEVIATION = math.sqrt(_BYTES * (256**2 - 1) / 12)
"""Of a sum of eight random bytes, which is close to normally distributed."""
_BIAS = 1.0
"""What a constant beside the inputs is, relative to the length that they are measured against."""
_SAMPLES = 2048
"""At a time."""


class Basis(BaseModel):
    """Random ReLU features of inputs, or the inputs themselves; sums of the same basis can be added.

    Attributes
    ----------
    inputs : int
        Numbers of an input.
    features : int or None
        How many random features; None for the inputs themselves and a constant, so that what is solved is linear.
    seed : int
        What they are drawn from.
    length : float or None
        What inputs are measured against. None: each by its own length, so that only its direction counts, as suits
        features of a network and pictures. A number: by that, so that its length counts too, as suits tables.

    Examples
    --------
    >>> basis = Basis(inputs=4, features=3, seed=0)
    >>> numbers = basis.numbers(torch.tensor([[1.0, 0.0, -1.0, 2.0]]))
    >>> numbers.dtype, basis.features_of(numbers).dtype, basis.features_of(numbers).shape
    (torch.int16, torch.float32, torch.Size([1, 3]))
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    inputs: Annotated[int, Field(ge=1, le=10**6)]
    features: Annotated[int, Field(ge=1, le=10**5)] | None
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    length: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None

    def __str__(self) -> str:
        what = "linear" if self.features is None else f"{self.features:,} random features, seed {self.seed}"
        return what if self.length is None else f"{what}, length {self.length:g}"

    @property
    def size(self) -> int:
        """How many features there are, a constant among them where they are the inputs."""
        return self.width + 1 if self.features is None else self.features

    @property
    def width(self) -> int:
        """How many whole numbers an input becomes: one for each of its own, and a constant beside a length."""
        return self.inputs + (self.length is not None)

    @property
    def digest(self) -> str:
        """Hash of all of it, and of how features are made."""
        rule = [UNIT, LARGEST_FEATURE, LARGEST_NUMBER, _BYTES, _BIAS]
        return hashlib.sha256(f"{self.model_dump_json()} {rule}".encode()).hexdigest()[:32]

    def numbers(self, x: Tensor) -> Tensor:
        """Return inputs as whole numbers, int16 ``[samples, width]``: as large as they can be in their proportions.

        Parameters
        ----------
        x : Tensor
            Inputs, ``[samples, ...]``.
        """
        flat = x.detach().cpu().flatten(1).double()
        if flat.shape[1] != self.inputs:
            raise ShapeError(f"inputs have {flat.shape[1]} numbers, and these sums are of {self.inputs}")
        largest = flat.abs().amax(1, keepdim=True)
        if self.length is not None:
            beside = torch.full_like(largest, _BIAS * self.length)
            flat, largest = torch.cat([flat, beside], 1), torch.maximum(largest, beside)
        whole = (flat / largest.clamp(min=torch.finfo(torch.float64).tiny) * LARGEST_NUMBER).round_()
        return whole.to(torch.int16)

    def features_of(self, numbers: Tensor) -> Tensor:
        """Return the features of inputs that have become whole numbers: whole numbers as float32 ``[samples, size]``.

        Parameters
        ----------
        numbers : Tensor
            What `numbers` gives.
        """
        return torch.cat([self._features_of(some) for some in numbers.split(_SAMPLES)])

    def _features_of(self, numbers: Tensor) -> Tensor:
        whole = numbers.double()
        lengths = _lengths(whole)
        if self.features is None:
            # Of size 1 on average.
            scaled = whole * (UNIT * math.sqrt(self.width) / lengths)
            found = torch.cat([scaled, torch.full_like(lengths, UNIT)], 1)
        else:
            found = (whole @ self._directions.T).clamp_(min=0)
            found *= UNIT / (lengths * _DEVIATION)
        return found.add_(0.5).floor_().clamp_(-LARGEST_FEATURE, LARGEST_FEATURE).float()

    @property
    def _directions(self) -> Tensor:
        assert self.features is not None
        return directions(self.features, self.width, self.seed)

    def layer(self) -> BasisLayer:
        """Return a module from inputs to features, in units of 1; it does not round."""
        return BasisLayer(self)


def _lengths(whole: Tensor) -> Tensor:
    """Return the lengths of rows of whole numbers, exact but for the square root, which is rounded as IEEE says."""
    return whole.square().sum(1, keepdim=True).clamp_(min=1).sqrt_()


@lru_cache(maxsize=2)
def directions(features: int, width: int, seed: int) -> Tensor:
    """Return random directions of whole numbers, float64 ``[features, width]``, close to normally distributed.

    They are sums of bytes of a generator whose stream is fixed (PCG64): drawing involves no rounding.

    Examples
    --------
    >>> drawn = directions(1000, 50, seed=0)
    >>> bool((drawn == drawn.round()).all()), abs(float(drawn.mean())) < 4, 205 < float(drawn.std()) < 214
    (True, True, True)
    """
    raw = np.random.PCG64(seed).random_raw(features * width)
    bytes_of = raw.view(np.uint8).reshape(-1, _BYTES)
    sums = bytes_of.sum(1, dtype=np.int16) - np.int16(_BYTES * 255 // 2)
    return torch.from_numpy(sums.astype(np.float64)).reshape(features, width)


class BasisLayer(nn.Module):
    """Features of inputs as a layer of a network, in float32 and without rounding."""

    weight: Tensor

    def __init__(self, basis: Basis) -> None:
        super().__init__()
        self.length = basis.length
        self.root = math.sqrt(basis.width)
        self.linear = basis.features is None
        drawn = torch.zeros(0) if self.linear else (basis._directions / _DEVIATION).float()
        self.register_buffer("weight", drawn)
        self.eval()

    def forward(self, x: Tensor) -> Tensor:
        """Return features, ``[samples, size]``."""
        whole = x.flatten(1)
        if self.length is not None:
            whole = torch.cat([whole, torch.full_like(whole[:, :1], _BIAS * self.length)], 1)
        whole = whole / whole.norm(dim=1, keepdim=True).clamp(min=1e-30)
        if self.linear:
            features = torch.cat([whole * self.root, torch.ones_like(whole[:, :1])], 1)
        else:
            features = (whole @ self.weight.T).clamp(min=0)
        most = LARGEST_FEATURE / UNIT
        return features.clamp(-most, most)
