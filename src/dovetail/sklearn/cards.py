"""A card: what a class leaves behind in place of its samples, from which others can be drawn.

It holds how many samples there were, their mean, the variance of each feature, and the directions in which they vary
most. Parts that come later learn from draws what is not theirs, and those that are there do not forget their own class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

MOST_DIRECTIONS = 64
"""As many as a part has units by default: a card is about as large as its part."""


@dataclass(frozen=True, eq=False)
class Card:
    """Weight, mean and covariance of the samples of a class; cards of the same class add up.

    Attributes
    ----------
    weight : float
        How much all samples weigh together.
    mean, variance : array
        Of each feature.
    directions : array
        ``[directions, features]``: of all matrices D with as few rows, the one whose Dᵀ D is nearest to the covariance.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(5, 2, (400, 3))
    >>> card = Card.of(x[:100]) + Card.of(x[100:])
    >>> drawn = card.draw(10_000, np.random.default_rng(1))
    >>> bool(np.allclose(card.mean, x.mean(0))), bool(np.abs(np.cov(drawn.T) - np.cov(x.T)).max() < 0.2)
    (True, True)
    """

    weight: float
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    directions: NDArray[np.float32]

    @classmethod
    def of(cls, x: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> Card:
        """Return the card of samples."""
        weights = np.ones(len(x)) if weights is None else weights
        total = float(weights.sum())
        mean = weights @ x / total
        spread = np.sqrt(weights / total)[:, None] * (x - mean)
        return cls(total, mean, np.square(spread).sum(0), _main_directions(spread))

    def __add__(self, other: Card) -> Card:
        total = self.weight + other.weight
        mine, theirs = self.weight / total, other.weight / total
        apart = np.sqrt(mine * theirs) * (other.mean - self.mean)
        spread = np.concatenate(
            [np.sqrt(mine) * self.directions, np.sqrt(theirs) * other.directions, apart[None]]
        )
        return Card(
            total,
            mine * self.mean + theirs * other.mean,
            mine * self.variance + theirs * other.variance + np.square(apart),
            _main_directions(spread),
        )

    def draw(self, count: int, generator: np.random.Generator) -> NDArray[np.float64]:
        """Return samples from the normal distribution with this mean, these variances and main directions."""
        rest = np.sqrt(np.maximum(self.variance - np.square(self.directions).sum(0), 0))
        along = generator.standard_normal((count, len(self.directions))) @ self.directions
        apart = generator.standard_normal((count, len(rest))) * rest
        drawn: NDArray[np.float64] = self.mean + along + apart
        return drawn


def _main_directions(spread: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return D of few rows with Dᵀ D nearest to SᵀS, which is S turned, without what is smallest."""
    most = min(MOST_DIRECTIONS, *spread.shape)
    _, sizes, directions = randomized_svd(spread, most, random_state=0)
    found: NDArray[np.float32] = (sizes[:, None] * directions).astype(np.float32)
    return found
