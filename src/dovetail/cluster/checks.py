"""Checks of numbers and parameters: what makes no sense is refused, naming the value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np
import torch
from torch import Tensor

from ..errors import ShapeError, SpecError


def whole_number(name: str, value: int, least: int) -> int:
    """Return a whole number of at least ``least``, numpy's too; refuse anything else.

    Examples
    --------
    >>> whole_number("k", np.int64(4), least=2)
    4
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise SpecError(f"{name} must be a whole number of at least {least}, not {value!r:.80}")
    return int(value)


def finite_number(name: str, value: float) -> float:
    """Return a number as a float; refuse what is none, NaN and infinities.

    Examples
    --------
    >>> finite_number("norm", 2)
    2.0
    """
    try:
        found = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise SpecError(f"{name} must be a finite number, not {value!r:.80}")
    return found


def number_per_network(
    name: str, value: float | Sequence[float] | Tensor, networks: int, most: float = math.inf
) -> Tensor:
    """Return a setting as one number for each network, finite and from 0 up to a bound.

    Examples
    --------
    >>> number_per_network("l1", 0.5, networks=2)
    tensor([0.5000, 0.5000], dtype=torch.float64)
    """
    try:
        given = torch.as_tensor(value, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise SpecError(f"{name} must be a number, or one for each network; got {value!r:.80}") from error
    if given.shape not in {(), (networks,)}:
        raise ShapeError(
            f"{name} must be one number or {networks}, one for each network; got {tuple(given.shape)}"
        )
    if not bool((given.isfinite() & (given >= 0) & (given <= most)).all()):
        bound = "finite and not negative" if math.isinf(most) else f"from 0 to {most:g}"
        raise SpecError(f"{name} must be {bound}; got {value!r:.80}")
    return given.expand(networks)


def check_stacked(params: Mapping[str, Tensor]) -> None:
    """Refuse what is not a mapping of names to tensors."""
    if not isinstance(params, Mapping) or not all(isinstance(param, Tensor) for param in params.values()):
        raise SpecError(
            f"stacked parameters must be tensors by name, such as those of a Population, not {type(params).__name__}"
        )
