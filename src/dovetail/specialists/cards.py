"""Cards: what classes leave behind for others instead of their samples: how many there were, their mean and covariance.

Cards add up: the sum of some is the card of all their samples together. From those of the classes that a part knows
follows how near a sample is to any of them, which tells samples of classes that nobody has seen; and from draws others
learn what is not theirs (`growth`). A card says something about the samples that it comes from: with a single one its
mean is that sample. `private_cards` has some with noise.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral

import torch
from torch import Tensor

from ..data.preparation import Preparation
from ..data.split import Split, is_finite
from ..errors import DataError, MisfitError, ShapeError, SpecError
from ..threads import one_blas_thread

MOST_NUMBERS = 4096
"""Samples of more numbers have no cards: distances between such inputs say little, and files would grow."""

USUAL_DIRECTIONS, USUAL_ROOM = 16, 2**13
"""Directions of a card unless told otherwise: at most so many, of at most so many numbers together (32 kB)."""

_RIDGE = 0.03
"""Of the mean variance of all numbers, what is added to each: those that never vary would decide everything."""

_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Card:
    """What is kept of the samples of a class.

    Their covariance is kept as Dᵀ D for the main directions D, and the variance of each number for what is left of it:
    none of them is the diagonal alone, as many as there are numbers (or samples) is all of it.

    Attributes
    ----------
    count : float
        How many there were; with weights, what they weigh together.
    mean, variance : Tensor
        Of each number of an input, ``[numbers]``, float32.
    directions : Tensor
        ``[directions, numbers]``: of all D with as few rows, the one with Dᵀ D nearest to the covariance.
    most : int
        How many directions are kept when cards are added.
    inputs : str
        What the numbers are: the hash of trunk and scaling. Empty where inputs are as a known data set has them.

    Examples
    --------
    >>> low, high = (Card(2, torch.tensor([m]), torch.tensor([1.0])) for m in (0.0, 4.0))
    >>> both = low + high
    >>> both.count, both.mean, both.variance
    (4, tensor([2.]), tensor([5.]))
    >>> both.draw(3, seed=0).shape
    torch.Size([3, 1])
    """

    count: float
    mean: Tensor
    variance: Tensor
    directions: Tensor = field(default_factory=lambda: torch.zeros(0, 0))
    most: int = 0
    inputs: str = ""

    def __post_init__(self) -> None:
        if not len(self.directions):
            object.__setattr__(self, "directions", self.mean.new_zeros(0, len(self.mean)))
        if not 0 < self.count < math.inf or not all(
            map(is_finite, (self.mean, self.variance, self.directions))
        ):
            raise DataError("a card is of at least one sample, and its mean and covariance are finite")
        if self.mean.dim() != 1 or self.mean.shape != self.variance.shape or bool((self.variance < 0).any()):
            raise DataError("a card has a mean and a variance, 0 or more, for each number of an input")
        if self.directions.shape[1:] != self.mean.shape or len(self.directions) > max(self.most, 0):
            raise DataError(
                "directions of a card have a number for each of an input, and are not more than its most"
            )

    @classmethod
    def of(
        cls, x: Tensor, weights: Tensor | None = None, *, directions: int | None = None, inputs: str = ""
    ) -> Card:
        """Return the card of samples.

        Parameters
        ----------
        x : Tensor
            The samples, ``[samples, ...]``.
        weights : Tensor, optional
            How much each counts.
        directions : int, optional
            How many are kept at most: 0 for the diagonal of the covariance alone, as many as there are numbers for all
            of it. By default 16, fewer where inputs have more than 512 numbers.
        inputs : str
            What the numbers are.

        Examples
        --------
        >>> x = torch.tensor([[0.0, 0.0], [2.0, 2.0]])
        >>> Card.of(x, directions=2).covariance()
        tensor([[1., 1.],
                [1., 1.]])
        """
        rows = x.detach().cpu().flatten(1).double()
        most = usual_directions(rows.shape[1]) if directions is None else directions
        share = torch.ones(len(rows), dtype=torch.float64) if weights is None else weights.cpu().double()
        total = float(share.sum())
        if not total > 0:
            raise DataError("a card is of at least one sample")
        share = share / total
        mean = share @ rows
        spread = share.sqrt()[:, None] * (rows - mean)
        return cls(
            len(rows) if weights is None else total, mean.float(), spread.square().sum(0).float(),
            main_directions(spread, most), most, inputs,
        )  # fmt: skip

    def covariance(self) -> Tensor:
        """Return the covariance that it stands for, ``[numbers, numbers]``."""
        main = self.directions.T @ self.directions
        return main + torch.diag((self.variance - main.diagonal()).clamp(min=0))

    def draw(self, count: int, seed: int = 0) -> Tensor:
        """Return samples from the normal distribution with this mean and covariance, ``[count, numbers]``.

        Examples
        --------
        >>> card = Card(9, torch.tensor([3.0]), torch.tensor([4.0]))
        >>> drawn = card.draw(10_000, seed=1)
        >>> round(float(drawn.mean())), round(float(drawn.var()))
        (3, 4)
        """
        for name, value in (("count", count), ("seed", seed)):
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
                raise SpecError(f"{name} is a whole number from 0; got {value!r:.40}")
        generator = torch.Generator().manual_seed(seed)
        rest = (self.variance - self.directions.square().sum(0)).clamp(min=0).sqrt()
        along = torch.randn(count, len(self.directions), generator=generator) @ self.directions
        return self.mean + along + torch.randn(count, len(self.mean), generator=generator) * rest

    def __add__(self, other: object) -> Card:
        return pooled([self, other]) if isinstance(other, Card) else NotImplemented

    def __radd__(self, other: object) -> Card:
        # sum() starts from 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented


def usual_directions(numbers: int) -> int:
    """Return how many directions are kept unless told otherwise.

    Examples
    --------
    >>> [usual_directions(numbers) for numbers in (64, 384, 784, 3072)]
    [16, 16, 10, 2]
    """
    return min(USUAL_DIRECTIONS, USUAL_ROOM // numbers)


def inputs_of(preparation: Preparation | None) -> str:
    """Return what tells the numbers of some inputs from those of others; for features their trunk and its hash."""
    return "" if preparation is None else preparation.digest


def check_same_inputs(cards: Iterable[Card]) -> None:
    """Refuse cards whose numbers are not of the same inputs.

    Raises
    ------
    ShapeError
        When they have not as many numbers.
    MisfitError
        When these are features of another trunk, or scaled otherwise.
    """
    first, *others = cards
    for other in others:
        if other.mean.shape != first.mean.shape:
            raise ShapeError(
                f"cards of {len(first.mean)} and of {len(other.mean)} numbers cannot be added; they are of other inputs"
            )
        if other.inputs != first.inputs:
            mine, theirs = (one.inputs or "as they are" for one in (first, other))
            raise MisfitError(
                f"cards of other inputs ({mine} and {theirs}) do not go together: features of different trunks, or "
                "scaled otherwise (trunk.features(data, like=part))"
            )


def pooled(cards: Sequence[Card]) -> Card:
    """Return the card of all samples together.

    Its count, mean and variances are those of all samples. So is its covariance where all directions are kept; of fewer
    it keeps those along which the cards that were added vary most, so adding cards is not quite what the card of all
    samples would have kept, and what it leaves out it counts as if numbers varied independently.

    Examples
    --------
    >>> pooled([Card(1, torch.tensor([m]), torch.tensor([0.0])) for m in (1.0, 2.0, 3.0)]).variance
    tensor([0.6667])
    """
    check_same_inputs(cards)
    count, centre, within, between = _moments(cards)
    most = max(card.most for card in cards)
    shares = [card.count / count for card in cards]
    spread = [(card.directions.double() * share**0.5) for card, share in zip(cards, shares, strict=True)]
    apart = (
        torch.stack([card.mean.double() - centre for card in cards])
        * torch.tensor(shares).double().sqrt()[:, None]
    )
    return Card(
        count, centre.float(), (within + between).float(),
        main_directions(torch.cat([*spread, apart]), most), most, cards[0].inputs,
    )  # fmt: skip


def with_shared_covariance(cards: Sequence[Card], share: float = 1.0) -> list[Card]:
    """Return cards whose covariance is, for this share, that within all of their classes together.

    Of few samples a covariance is known badly, and those of classes of one kind are alike: what they have in common is
    known from all of them.

    Parameters
    ----------
    cards : sequence of Card
        One for each class.
    share : float
        From 0, every class its own, to 1, the same for all.

    Examples
    --------
    >>> cards = [Card(3, torch.tensor([m]), torch.tensor([v])) for m, v in ((0.0, 1.0), (9.0, 3.0))]
    >>> [float(card.variance) for card in with_shared_covariance(cards)]
    [2.0, 2.0]
    """
    if not 0 <= share <= 1:
        raise SpecError(f"a share is from 0 to 1, not {share}")
    check_same_inputs(cards)
    total, _, within, _ = _moments(cards)
    numbers = len(within)
    every = torch.cat([card.directions.double() * (card.count / total) ** 0.5 for card in cards])
    common = main_directions(every, numbers).double()
    found = []
    for card in cards:
        variance = (1 - share) * card.variance.double() + share * within
        both = [(1 - share) ** 0.5 * card.directions.double(), share**0.5 * common]
        kept = torch.cat([one for one, part in zip(both, (1 - share, share), strict=True) if part])
        found.append(
            replace(card, variance=variance.float(), directions=kept.float(), most=max(card.most, len(kept)))
        )
    return found


_EXACT = 256
"""Matrices with more rows and columns than this are turned by random projections, if few directions are wanted."""


def main_directions(spread: Tensor, most: int) -> Tensor:
    """Return D of few rows with Dᵀ D nearest to SᵀS, which is S turned, without what is smallest.

    Examples
    --------
    >>> main_directions(torch.tensor([[3.0, 0.0], [0.0, 1.0]]), 1).abs()
    tensor([[3., 0.]])
    """
    wanted = min(most, *spread.shape)
    if not wanted:
        return torch.zeros(0, spread.shape[1])
    if min(spread.shape) > _EXACT and 4 * wanted < min(spread.shape):
        from sklearn.utils.extmath import randomized_svd

        with one_blas_thread():
            _, sizes, found = randomized_svd(spread.numpy(), wanted, random_state=0)
        directions = torch.from_numpy(sizes[:, None] * found)
    elif spread.shape[0] <= spread.shape[1]:
        _, turns = torch.linalg.eigh(spread @ spread.T)
        directions = turns.flip(1)[:, :wanted].T @ spread
    else:
        sizes, turns = torch.linalg.eigh(spread.T @ spread)
        directions = (sizes.clamp(min=0).sqrt() * turns).flip(1)[:, :wanted].T
    directions = directions.float()
    return directions[directions.any(1)].contiguous()


def to_tensors(cards: Sequence[Card]) -> dict[str, Tensor]:
    """Return cards as files hold them, a row for each; see `from_tensors`."""
    if not cards:
        return {}
    rows = max(len(card.directions) for card in cards)
    directions = torch.zeros(len(cards), rows, len(cards[0].mean), dtype=torch.float32)
    for place, card in enumerate(cards):
        directions[place, : len(card.directions)] = card.directions
    return {
        "count": torch.tensor([card.count for card in cards], dtype=torch.float64),
        "mean": torch.stack([card.mean for card in cards]),
        "variance": torch.stack([card.variance for card in cards]),
        "directions": directions,
        "most": torch.tensor([card.most for card in cards]),
    }


def from_tensors(tensors: Mapping[str, Tensor], classes: int, numbers: int, inputs: str) -> list[Card]:
    """Return the cards that a file holds.

    Parameters
    ----------
    tensors : mapping of str to Tensor
        What `to_tensors` gave. Files of the first schema have no directions.
    classes, numbers : int
        How many cards there are to be, and of inputs of how many numbers.
    inputs : str
        What the numbers are.

    Raises
    ------
    DataError
        When they are not complete, or not of such inputs.

    Examples
    --------
    >>> card = Card(4, torch.tensor([2.0]), torch.tensor([5.0]))
    >>> from_tensors(to_tensors([card]), 1, 1, "")[0].variance
    tensor([5.])
    """
    given = {
        "directions": torch.zeros(classes, 0, numbers, dtype=torch.float32),
        "most": torch.zeros(classes).long(),
        **tensors,
    }
    rows = given["directions"].shape[1:2]
    like = {
        "count": ((torch.float64, torch.int64), (classes,)),
        "mean": ((torch.float32,), (classes, numbers)),
        "variance": ((torch.float32,), (classes, numbers)),
        "directions": ((torch.float32,), (classes, *rows, numbers)),
        "most": ((torch.int64,), (classes,)),
    }
    for name, (types, shape) in like.items():
        tensor = given.get(name)
        if tensor is None or tensor.dtype not in types or tuple(tensor.shape) != shape:
            raise DataError(f"the cards of its classes are not complete, or not of its inputs ({name})")
    found = []
    for place in range(classes):
        count, most = float(given["count"][place]), int(given["most"][place])
        whole = int(count) if count.is_integer() else count
        directions = given["directions"][place]
        kept = (
            directions[: int(directions.any(1).nonzero().amax()) + 1] if directions.any() else directions[:0]
        )
        found.append(Card(whole, given["mean"][place], given["variance"][place], kept, most, inputs))
    return found


def class_cards(
    split: Split, ids: Collection[int], *, directions: int | None = None, inputs: str = ""
) -> dict[int, Card]:
    """Return the cards of some classes; none where samples have too many numbers.

    Parameters
    ----------
    split : Split
        Training samples with class ids.
    ids : collection of int
        Of which classes. Those without samples have no card.
    directions, inputs
        As for `Card.of`.

    Examples
    --------
    >>> split = Split(torch.tensor([[1.0], [3.0], [9.0]]), torch.tensor([0, 0, 1]))
    >>> found = class_cards(split, [0])
    >>> found[0].count, found[0].mean, found[0].variance
    (2, tensor([2.]), tensor([1.]))
    """
    if math.prod(split.x.shape[1:]) > MOST_NUMBERS:
        return {}
    own = {number: split.x[split.y == number] for number in sorted(ids)}
    return {number: Card.of(x, directions=directions, inputs=inputs) for number, x in own.items() if len(x)}


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


def _moments(cards: Sequence[Card]) -> tuple[float, Tensor, Tensor, Tensor]:
    """Return the count, mean, and variance within and between classes, of all samples together."""
    counts = torch.tensor([card.count for card in cards], dtype=torch.float64)
    shares = counts / counts.sum()
    means = torch.stack([card.mean for card in cards]).double()
    centre = shares @ means
    within = shares @ torch.stack([card.variance for card in cards]).double()
    between = shares @ (means - centre).square()
    total = sum(card.count for card in cards)  # of whole numbers a whole one
    return total, centre, within, between
