"""Yardsticks: ordinary heads and plain closed forms on features, written out, beside which parts are measured.

Nothing here uses parts, cards or sums, so that what is compared with them cannot share their mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ...data.split import Split

RIDGES = (1.0, 10.0, 100.0, 1000.0)
"""Among which the one with the fewest errors on validation samples is taken."""


def new_head(inputs: int, hidden: int, outputs: int, seed: int) -> nn.Sequential:
    """Return a network of one hidden layer; the same seed, the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def train_head(
    head: nn.Module, samples: Split, *, outputs: int, epochs: int, lr: float, batch_size: int, seed: int
) -> None:
    """Train a head with Adam on cross-entropy, in place.

    Parameters
    ----------
    head : Module
        From features to logits.
    samples : Split
        What it learns. All classes count the same, however many samples they have.
    outputs : int
        How many of its first outputs there are classes for so far; the others take no part.
    epochs, lr, batch_size, seed
        How it is trained, and what the order of samples is drawn from.
    """
    optimizer = torch.optim.Adam(head.parameters(), lr=lr)
    generator = torch.Generator().manual_seed(seed)
    counts = samples.y.bincount(minlength=outputs).clamp(min=1)
    weights = len(samples) / (counts * samples.y.unique().numel())
    for _ in range(epochs):
        for rows in torch.randperm(len(samples), generator=generator).split(batch_size):
            x, y = samples.x[rows], samples.y[rows]
            loss = (F.cross_entropy(head(x)[:, :outputs], y, reduction="none") * weights[y]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


@torch.no_grad()
def accuracy_of(head: nn.Module, samples: Split, outputs: int) -> float:
    """Return the share of samples for whose class a head's logit is the largest of its first outputs."""
    found = torch.cat([head(x)[:, :outputs].argmax(1) for x in samples.x.split(4096)])
    return float((found == samples.y).double().mean())


def stored(samples: Split, each: int, seed: int) -> Split:
    """Return a few samples of every class.

    Examples
    --------
    >>> kept = stored(Split(torch.zeros(9, 1), torch.arange(9) % 3), 2, seed=0)
    >>> kept.y.bincount()
    tensor([2, 2, 2])
    """
    order = torch.randperm(len(samples), generator=torch.Generator().manual_seed(seed))
    y = samples.y[order]
    rows = torch.cat([order[y == number][:each] for number in y.unique()])
    return samples.where(rows)


def joined(splits: Sequence[Split]) -> Split:
    """Return all samples of several splits."""
    return Split(torch.cat([split.x for split in splits]), torch.cat([split.y for split in splits]))


def random_features(x: Tensor, size: int, seed: int) -> Tensor:
    """Return ReLU features of samples in random directions."""
    drawn = torch.randn(x.shape[1], size, generator=torch.Generator().manual_seed(seed))
    return torch.relu(x @ drawn / x.shape[1] ** 0.5)


def with_constant(x: Tensor) -> Tensor:
    """Return samples with a 1 behind."""
    return torch.cat([x, torch.ones(len(x), 1)], 1)


@dataclass
class Ridge:
    """Ridge regression on classes as 0 and 1, which learns from batches and forgets nothing: it keeps two sums.

    Attributes
    ----------
    second, first : Tensor
        Σ φφᵀ and Σ φyᵀ.

    Examples
    --------
    >>> ridge = Ridge.empty(2, 2)
    >>> ridge.learn(Split(torch.eye(2), torch.tensor([0, 1])))
    >>> ridge.solved(Split(torch.eye(2), torch.tensor([0, 1])), 2)(torch.tensor([[0.0, 3.0]])).argmax()
    tensor(1)
    """

    second: Tensor
    first: Tensor

    @classmethod
    def empty(cls, size: int, outputs: int) -> Ridge:
        """Return one that has learned nothing."""
        return cls(torch.zeros(size, size), torch.zeros(size, outputs))

    def learn(self, samples: Split) -> None:
        """Add samples."""
        self.second += samples.x.T @ samples.x
        self.first.T.index_add_(0, samples.y, samples.x)

    def solved(self, val: Split, outputs: int) -> nn.Linear:
        """Return the solution, of several, with the fewest errors on validation samples."""
        found: list[tuple[float, int, nn.Linear]] = []
        for ridge in RIDGES:
            matrix = self.second.double()
            matrix.diagonal().add_(ridge)
            weights = torch.cholesky_solve(self.first[:, :outputs].double(), torch.linalg.cholesky(matrix))
            layer = nn.Linear(weights.shape[0], outputs, bias=False)
            layer.weight = nn.Parameter(weights.T.float().contiguous())
            found.append((accuracy_of(layer, val, outputs), -len(found), layer))
        return max(found)[2]


@dataclass
class NearestMean:
    """The class whose samples' mean is nearest.

    Attributes
    ----------
    total, count : Tensor
        Σ x, and how many samples there are, of each class.
    """

    total: Tensor
    count: Tensor

    @classmethod
    def empty(cls, size: int, outputs: int) -> NearestMean:
        """Return one that has learned nothing."""
        return cls(torch.zeros(outputs, size), torch.zeros(outputs))

    def learn(self, samples: Split) -> None:
        """Add samples."""
        self.total.index_add_(0, samples.y, samples.x)
        self.count += samples.y.bincount(minlength=len(self.count))

    def solved(self, val: Split, outputs: int) -> nn.Linear:
        """Return it as a layer: 2 x·m - m² is largest where the distance is least; there is nothing to choose."""
        means = self.total / self.count.clamp(min=1)[:, None]
        layer = nn.Linear(means.shape[1], len(means))
        layer.weight, layer.bias = nn.Parameter(2 * means), nn.Parameter(-means.square().sum(1))
        return layer
