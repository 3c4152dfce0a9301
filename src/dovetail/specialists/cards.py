"""Cards: what classes leave behind for others instead of their samples: how many there were, their mean and variance.

Cards add up: the sum of some is the card of all their samples together. From those of the classes that a part knows
follows how near a sample is to any of them, which tells samples of classes that nobody has seen. A card says something
about the samples that it comes from: with a single one its mean is that sample.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..data.split import Split, is_finite
from ..errors import DataError, ShapeError

MOST_NUMBERS = 4096
"""Samples of more numbers have no cards: distances between such inputs say little, and files would grow."""

_RIDGE = 0.03
"""Of the mean variance of all numbers, what is added to each: those that never vary would decide everything."""

_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Card:
    """What is kept of the samples of a class.

    Attributes
    ----------
    count : int
        How many there were.
    mean, variance : Tensor
        Of each number of an input, ``[numbers]``, float32.

    Examples
    --------
    >>> low, high = (Card(2, torch.tensor([m]), torch.tensor([1.0])) for m in (0.0, 4.0))
    >>> both = low + high
    >>> both.count, both.mean, both.variance
    (4, tensor([2.]), tensor([5.]))
    """

    count: int
    mean: Tensor
    variance: Tensor

    def __post_init__(self) -> None:
        if self.count < 1 or not is_finite(self.mean) or not is_finite(self.variance):
            raise DataError("a card is of at least one sample, and its mean and variance are finite")
        if self.mean.dim() != 1 or self.mean.shape != self.variance.shape or bool((self.variance < 0).any()):
            raise DataError("a card has a mean and a variance, 0 or more, for each number of an input")

    def __add__(self, other: object) -> Card:
        if not isinstance(other, Card):
            return NotImplemented
        if self.mean.shape != other.mean.shape:
            raise ShapeError(
                f"cards of {len(self.mean)} and of {len(other.mean)} numbers cannot be added; they are of other inputs"
            )
        return pooled([self, other])

    def __radd__(self, other: object) -> Card:
        # sum() starts from 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented


def pooled(cards: Sequence[Card]) -> Card:
    """Return the card of all samples together.

    Examples
    --------
    >>> pooled([Card(1, torch.tensor([m]), torch.tensor([0.0])) for m in (1.0, 2.0, 3.0)]).variance
    tensor([0.6667])
    """
    count, centre, within, between = _moments(cards)
    return Card(count, centre.float(), (within + between).float())


def class_cards(split: Split, ids: Collection[int]) -> dict[int, Card]:
    """Return the cards of some classes; none where samples have too many numbers.

    Parameters
    ----------
    split : Split
        Training samples with class ids.
    ids : collection of int
        Of which classes. Those without samples have no card.

    Examples
    --------
    >>> split = Split(torch.tensor([[1.0], [3.0], [9.0]]), torch.tensor([0, 0, 1]))
    >>> class_cards(split, [0])
    {0: Card(count=2, mean=tensor([2.]), variance=tensor([1.]))}
    """
    numbers = math.prod(split.x.shape[1:])
    if numbers > MOST_NUMBERS or not ids:
        return {}
    wanted = sorted(ids)
    # Rows of the sums: one for each wanted class, and a last one for everything else.
    row_of = torch.full((max(int(split.y.max()), *wanted) + 1,), len(wanted))
    row_of[wanted] = torch.arange(len(wanted))
    rows = row_of[split.y.cpu()]
    counts = rows.bincount(minlength=len(wanted) + 1)
    means = _row_sums(split.x, rows, counts) / counts.clamp(min=1)[:, None]
    variances = _row_sums(split.x, rows, counts, means) / counts.clamp(min=1)[:, None]
    return {
        number: Card(int(counts[row]), means[row].float(), variances[row].float())
        for row, number in enumerate(wanted)
        if counts[row]
    }


def _row_sums(x: Tensor, rows: Tensor, counts: Tensor, means: Tensor | None = None) -> Tensor:
    """Return the sums of samples over each row, or of squared distances from its mean, in double precision."""
    sums = torch.zeros(len(counts), math.prod(x.shape[1:]), dtype=torch.float64)
    for own, samples in zip(rows.split(_ROWS), x.split(_ROWS), strict=True):
        values = samples.detach().cpu().flatten(1).double()
        sums.index_add_(0, own, values if means is None else (values - means[own]).square())
    return sums


def nearness(cards: Sequence[Card], x: Tensor) -> Tensor:
    """Return how much nearer samples are to one of some classes than samples of another class would be.

    Distances are squared, and each number counts by its variance within classes (Mahalanobis, without correlations).
    The distance to the nearest mean is taken from that to the mean of all, by the variance that samples of unseen
    classes have: within classes and between their means, as far as these tell. One class alone says nothing of others;
    what is left is the distance to its mean, below 0.

    Parameters
    ----------
    cards : sequence of Card
        One for each class.
    x : Tensor
        Inputs, ``[samples, ...]``.

    Returns
    -------
    Tensor
        ``[samples]``, float64; the higher, the surer are they of one of these classes.

    Examples
    --------
    >>> cards = [Card(9, torch.tensor([m]), torch.tensor([1.0])) for m in (-5.0, 5.0)]
    >>> [round(one, 1) for one in nearness(cards, torch.tensor([[5.0], [0.0], [9.0]])).tolist()]
    [0.3, -14.0, -7.9]
    """
    kept = torch.stack([card.mean for card in cards]).double()
    _, centre, within, between = _moments(cards)
    ridge = _RIDGE * (within + between).mean().clamp(min=torch.finfo(torch.float32).tiny)
    classes = len(cards)
    background = torch.zeros_like(within)
    if classes > 1:
        # Of a mean that is not among those that were seen, by an estimate from so many.
        background = 1 / (within + ridge + between * (classes + 1) / (classes - 1))
    scale = (within + ridge).rsqrt()
    means = (kept - centre) * scale
    place = x.device
    centre, background, scale, means = (t.to(place) for t in (centre, background, scale, means))
    return torch.cat(
        [_nearness(batch.flatten(1).double() - centre, means, scale, background) for batch in x.split(_ROWS)]
    )


def _nearness(from_centre: Tensor, means: Tensor, scale: Tensor, background: Tensor) -> Tensor:
    scaled = from_centre * scale
    # Squared distances less what all classes share, which is added for all at once.
    to_means = means.square().sum(1) - 2 * scaled @ means.T
    nearest = to_means.amin(1) + scaled.square().sum(1)
    return from_centre.square() @ background - nearest


def _moments(cards: Sequence[Card]) -> tuple[int, Tensor, Tensor, Tensor]:
    """Return the count, mean, and variance within and between classes, of all samples together."""
    counts = torch.tensor([card.count for card in cards], dtype=torch.float64)
    shares = counts / counts.sum()
    means = torch.stack([card.mean for card in cards]).double()
    centre = shares @ means
    within = shares @ torch.stack([card.variance for card in cards]).double()
    between = shares @ (means - centre).square()
    return int(counts.sum()), centre, within, between
