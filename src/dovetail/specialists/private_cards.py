"""Cards with noise: what a class leaves behind, differentially private, and what that costs.

Each sample is shortened to a length of at most ``clip``. What is then counted is one vector: how many samples there
are, their sum over ``clip``, and the sum of their squares (or products) over ``clip²``. One more or less changes each
of the three by at most 1 in length, so the vector by at most √3, and one Gaussian mechanism adds noise for that.
Whatever is made of the noisy vector is as private as it is. Samples are of one class each, so the cards of all
classes together are as private as one.

What it does *not* make private: the weights of the specialist, which learned from the same samples; its validation
scores and threshold; how features were scaled; and that the class is there. Someone with k samples in the data is
protected as if epsilon were k times as large (and delta larger still). The noise comes from an ordinary generator of
pseudo-random numbers and is added in floating point, which an attacker who can compute exactly can use: this is no
hardened implementation.

References
----------
B. Balle, Y.-X. Wang, "Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration and Optimal
Denoising", ICML 2018.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from scipy.special import log_ndtr
from torch import Tensor

from ..data.split import Split
from ..errors import DataError, SpecError
from .cards import Card, inputs_of, main_directions
from .evaluate import check_class_ids

if TYPE_CHECKING:
    from .specialist import Specialist

SENSITIVITY = math.sqrt(3)
"""How far one sample more or less moves the vector: three parts, each by at most 1."""


def private_cards(
    part: Specialist,
    split: Split,
    *,
    epsilon: float,
    delta: float,
    clip: float,
    directions: int = 0,
    seed: int | None = None,
) -> Specialist:
    """Return the same specialist with cards that are (epsilon, delta)-differentially private.

    Parameters
    ----------
    part : Specialist
        The specialist.
    split : Split
        Samples with class ids, those that its cards are to be of.
    epsilon, delta : float
        What one sample more or less may tell: the probability of any outcome changes by a factor of at most
        exp(epsilon), but for outcomes of a probability of at most delta.
    clip : float
        What samples are shortened to. It must not be read off these samples; features that were scaled to variance 1
        have a length of about the root of their number.
    directions : int
        How many directions of the covariance are kept. With any, noise is added to all products of two numbers, which
        takes many more samples; with 0 to the squares alone.
    seed : int, optional
        For tests: whoever knows it can take the noise off. By default it comes from the system.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> (three,) = dt.train_specialists(data, "mlp:16", [3], epochs=1, progress=False)
    >>> noisy = private_cards(three, data.train, epsilon=2.0, delta=1e-5, clip=4.0, seed=0)
    >>> 90 < noisy.cards["3"].count < 140
    True
    """
    check_class_ids(part, split)
    cards = []
    for place, number in enumerate(part.rewarded):
        x = split.x[split.y == number]
        cards.append(
            private_card(
                x, epsilon=epsilon, delta=delta, clip=clip, directions=directions,
                seed=None if seed is None else seed + place, inputs=inputs_of(part.preparation),
            )
        )  # fmt: skip
    bare = part.without_cards()  # a threshold by the old cards would say something about them
    return type(part)(part.blueprint, part.rewarded, part.weights, part.provenance, bare.threshold, cards)


def private_card(
    x: Tensor,
    *,
    epsilon: float,
    delta: float,
    clip: float,
    directions: int = 0,
    seed: int | None = None,
    inputs: str = "",
) -> Card:
    """Return a card of samples, with noise; see `private_cards`.

    Examples
    --------
    >>> x = torch.randn(20_000, 2, generator=torch.Generator().manual_seed(0))
    >>> private_card(x, epsilon=1.0, delta=1e-6, clip=3.0, seed=0).variance.round(decimals=1)
    tensor([1., 1.])
    """
    numbers = math.prod(x.shape[1:])
    if not numbers:
        raise DataError("samples have no numbers")
    sigma = SENSITIVITY * noise_scale(epsilon, delta)
    generator = torch.Generator()
    if seed is None:
        generator.seed()
    else:
        generator.manual_seed(seed)
    exact = statistics(x, clip, products=directions > 0)
    noisy = exact + sigma * torch.randn(exact.shape, generator=generator, dtype=torch.float64)
    # From here on everything follows from the noisy numbers alone.
    count = max(1, round(float(noisy[0])))
    mean = noisy[1 : numbers + 1] * clip / count
    rest = noisy[numbers + 1 :] * clip**2 / count
    if not directions:
        return Card(count, mean.float(), (rest - mean.square()).clamp(min=0).float(), inputs=inputs)
    rows, columns = torch.triu_indices(numbers, numbers)
    second = torch.zeros(numbers, numbers, dtype=torch.float64)
    second[rows, columns] = torch.where(rows == columns, rest, rest / math.sqrt(2))
    second = second + second.triu(1).T - torch.outer(mean, mean)
    sizes, turns = torch.linalg.eigh(second)
    spread = sizes.clamp(min=0).sqrt()[:, None] * turns.T  # noise can make variances negative, which none is
    variance = spread.square().sum(0)
    return Card(
        count, mean.float(), variance.float(), main_directions(spread, directions), directions, inputs
    )


def statistics(x: Tensor, clip: float, *, products: bool) -> Tensor:
    """Return the vector that noise is added to: count, sum over ``clip``, sums of squares or products over ``clip²``.

    Products of two different numbers are there once, times √2, so that the length is that of the whole matrix.

    Examples
    --------
    >>> statistics(torch.tensor([[3.0, 4.0]]), 1.0, products=False)
    tensor([1.0000, 0.6000, 0.8000, 0.3600, 0.6400], dtype=torch.float64)
    """
    if not 0 < clip < math.inf:
        raise SpecError(f"clip is a length above 0, not {clip}")
    rows = x.detach().cpu().flatten(1).double() / clip
    rows = rows / rows.norm(dim=1, keepdim=True).clamp(min=1)
    second = rows.square().sum(0)
    if products:
        whole = rows.T @ rows
        one, other = torch.triu_indices(*whole.shape)
        second = whole[one, other] * torch.where(one == other, 1.0, math.sqrt(2)).double()
    return torch.cat([torch.tensor([float(len(rows))], dtype=torch.float64), rows.sum(0), second])


def noise_scale(epsilon: float, delta: float) -> float:
    """Return the standard deviation of noise that makes a vector of sensitivity 1 (epsilon, delta)-private.

    Examples
    --------
    >>> round(noise_scale(1.0, 1e-5), 2)
    3.73
    """
    if not (0 < epsilon < math.inf and 0 < delta < 1):
        raise SpecError(
            f"epsilon is above 0 and delta from 0 to 1, both without the ends; got {epsilon}, {delta}"
        )
    low, high = 1e-6, 1.0
    while spent(high, epsilon) > delta:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if spent(middle, epsilon) > delta else (low, middle)
    return high


def spent(sigma: float, epsilon: float) -> float:
    """Return the least delta for which noise of this deviation is (epsilon, delta)-private, at sensitivity 1.

    Examples
    --------
    >>> spent(3.73, 1.0) < 1.01e-5
    True
    """
    above = log_ndtr(1 / (2 * sigma) - epsilon * sigma)
    below = epsilon + log_ndtr(-1 / (2 * sigma) - epsilon * sigma)
    return float(math.exp(above) - math.exp(below))
