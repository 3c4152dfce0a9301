"""Ridge regression from sums: its solution, and what each sample would get without itself (leave one out).

With A = Σ φφᵀ + λ and Y the classes as 0 and 1, the solution is A⁻¹ Σ φyᵀ. What it would give a sample had it not been
trained on that sample follows in closed form from what it gives it, ŷ, and from its leverage h = φᵀA⁻¹φ:
(ŷ - h y) / (1 - h). So regularisation and temperature can be chosen without samples that are held back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from scipy.optimize import minimize_scalar
from torch import Tensor
from torch.nn.functional import cross_entropy

from ...errors import DataError
from .basis import UNIT

RIDGES = tuple(10.0**power for power in torch.arange(-1.0, 3.25, 0.5).tolist())
"""Among which one is chosen: from 0.1 to 1000."""
LEAST_TEMPERATURE, MOST_TEMPERATURE = 0.02, 2.0
_MOST_LEVERAGE = 1 - 1e-9


class Choice(NamedTuple):
    """A regularisation and a temperature, and the share of errors and the log loss that they were chosen by."""

    ridge: float
    temperature: float
    errors: float
    loss: float


def solution(second: Tensor, first: Tensor, ridge: float) -> Tensor:
    """Return the weights of ridge regression, float64 ``[size, classes]``.

    It is a function of whole numbers, evaluated in one order: equal sums, equal bits.

    Parameters
    ----------
    second : Tensor
        Sum of the outer products of features, ``[size, size]``, as whole numbers.
    first : Tensor
        Sum of the features of each class, ``[size, classes]``, as whole numbers.
    ridge : float
        What is added to the diagonal, for features in units of 1.

    Examples
    --------
    >>> solution(torch.full((1, 1), 4.0 * UNIT**2), torch.full((1, 1), 2.0 * UNIT), ridge=1.0)
    tensor([[0.4000]], dtype=torch.float64)
    """
    return torch.cholesky_solve(first.double() / UNIT, factor(second, ridge))


def factor(second: Tensor, ridge: float) -> Tensor:
    """Return the lower Cholesky factor of the regularised second moment, in units of 1."""
    matrix = second.double() / UNIT**2  # exact: a power of two
    matrix.diagonal().add_(ridge)
    found: Tensor
    found, failed = torch.linalg.cholesky_ex(matrix)
    if int(failed):
        raise DataError(
            f"sums with ridge {ridge:g} have no solution in double precision; choose a larger ridge"
        )
    return found


def left_out(
    batches: Iterable[tuple[Tensor, Tensor]], second: Tensor, first: Tensor, ridges: Sequence[float]
) -> Tensor:
    """Return what every sample gets from a solution without it, for each ridge, ``[ridges, samples, classes]``.

    Parameters
    ----------
    batches : iterable of pairs
        Features of samples as whole numbers, and which of the classes they are of; all that the sums are of.
    second, first, ridges
        As for `solution`.

    Examples
    --------
    Two samples, of which each is alone with its class once the other is gone:

    >>> features, ids = torch.eye(2) * UNIT, torch.tensor([0, 1])
    >>> left_out([(features, ids)], (features.T @ features).double(), features.double(), [1.0])
    tensor([[[0., 0.],
             [0., 0.]]], dtype=torch.float64)
    """
    values, vectors = torch.linalg.eigh(second.double() / UNIT**2)
    values = values.clamp(min=0)
    turned = vectors.T @ (first.double() / UNIT)
    found: list[list[Tensor]] = [[] for _ in ridges]
    for features, ids in batches:
        along = (features.double() / UNIT) @ vectors
        for ridge, rows in zip(ridges, found, strict=True):
            weights = 1 / (values + ridge)
            leverage = (along.square() @ weights).clamp_(max=_MOST_LEVERAGE)[:, None]
            given = along @ (turned * weights[:, None])
            own = torch.zeros_like(given).scatter_(1, ids[:, None], 1.0)
            rows.append((given - leverage * own) / (1 - leverage))
    return torch.stack([torch.cat(rows) for rows in found])


def chosen(scores: Sequence[Tensor], ids: Tensor, ridges: Sequence[float]) -> Choice:
    """Return the ridge with the fewest errors, among equals the smallest log loss, and its best temperature.

    Parameters
    ----------
    scores : sequence of Tensor
        What samples get that were not trained on, for each ridge, ``[samples, classes]``.
    ids : Tensor
        Their classes.
    ridges : sequence of float
        The candidates.
    """
    found = [
        Choice(ridge, temperature, float((own.argmax(1) != ids).double().mean()), loss)
        for own, ridge in zip(scores, ridges, strict=True)
        for temperature, loss in [best_temperature(own, ids)]
    ]
    return min(found, key=lambda choice: (choice.errors, choice.loss))


def best_temperature(scores: Tensor, ids: Tensor) -> tuple[float, float]:
    """Return the temperature with the smallest log loss, and that loss.

    Examples
    --------
    >>> scores, ids = torch.tensor([[2.0, 0.0]] * 4), torch.tensor([0, 0, 0, 1])
    >>> [round(number, 2) for number in best_temperature(scores, ids)]  # 2 / log(3)
    [1.82, 0.56]
    """

    def loss(power: float) -> float:
        return float(cross_entropy(scores / 10**power, ids))

    bounds = (math.log10(LEAST_TEMPERATURE), math.log10(MOST_TEMPERATURE))
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-4})
    return float(10**found.x), float(found.fun)
