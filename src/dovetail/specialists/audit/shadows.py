"""Shadows: parts that are made again with and without samples, from which an attack learns what membership looks like.

Nobody tells such an attack anything of the part that it attacks. It makes parts of its own in the same way, each from a
random half of the samples in question, so that it knows of these what was in training, and reads their answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ...data.dataset import Dataset
from ...data.split import Split
from ...errors import SpecError
from ..evaluate import auroc
from .membership import attacker, read_answers

MOST_SHADOWS = 64

ShadowAttack = Callable[[nn.Module, Split, Split], float]
"""From a network, samples that may have been in its training and others that were not, to the AUROC of an attack."""


class Shadow(NamedTuple):
    """A network of which it is known what was in its training."""

    network: nn.Module
    inside: Split
    outside: Split


def shadow_attack(shadows: Sequence[Shadow], *, seed: int = 0) -> ShadowAttack:
    """Return an attack that has learned from shadows: ``attack(network, members, others)`` is its AUROC.

    Parameters
    ----------
    shadows : sequence of Shadow
        Networks that were made like the one to attack.
    seed : int
        What the attacking network's first weights are drawn from.

    References
    ----------
    Shokri, Stronati, Song, Shmatikov: "Membership Inference Attacks Against Machine Learning Models", IEEE S&P 2017.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> blank = dt.build_net("mlp:16", (1, 8, 8), 10, seed=0).eval()
    >>> attack = shadow_attack([Shadow(blank, *halves(data.val, 1)[0])])
    >>> 0.45 < attack(blank, data.train, data.test) < 0.55
    True
    """
    if not shadows:
        raise SpecError("a shadow attack learns from at least one shadow; there is none")
    inside = torch.cat([read_answers(shadow.network, shadow.inside) for shadow in shadows])
    outside = torch.cat([read_answers(shadow.network, shadow.outside) for shadow in shadows])
    learned = attacker(inside, outside, seed)

    def attack(network: nn.Module, members: Split, others: Split) -> float:
        return auroc(*(learned(read_answers(network, split)) for split in (members, others)))

    return attack


def halves(samples: Split, count: int, *, seed: int = 0) -> list[tuple[Split, Split]]:
    """Return halves of samples and what is left of them, drawn so that each sample is in every other one.

    Examples
    --------
    >>> samples = Split(torch.arange(4.0)[:, None], torch.zeros(4, dtype=torch.int64))
    >>> (a, b), (c, d) = halves(samples, 2)
    >>> torch.equal(a.x, d.x), sorted([*a.x.flatten().tolist(), *b.x.flatten().tolist()])
    (True, [0.0, 1.0, 2.0, 3.0])
    """
    draw = torch.Generator().manual_seed(seed)
    found: list[tuple[Split, Split]] = []
    while len(found) < count:
        first, second = torch.randperm(len(samples), generator=draw).tensor_split(2)
        one, other = _rows(samples, first), _rows(samples, second)
        found += [(one, other), (other, one)]
    return found[:count]


def shadow_data(data: Dataset, gone: Tensor, count: int) -> Iterator[tuple[Dataset, Split, Split]]:
    """Yield data with half of the samples of what was dropped, and which of these are in it and which are not.

    Halves are of training and test samples together. So nothing sets those apart that the attack is then asked about,
    but that some were in the training of what it attacks.

    Parameters
    ----------
    data : Dataset
        What the part was made of.
    gone : Tensor
        For each class whether it was dropped.
    count : int
        How many shadows there will be.
    """
    train, test = (split.where(gone[split.y.cpu()]) for split in (data.train, data.test))
    kept = data.train.where(~gone[data.train.y.cpu()])
    for inside, outside in halves(_joined(train, test), count):
        yield replace(data, train=_joined(kept, inside)), inside, outside


def check_shadows(count: object) -> int:
    """Refuse what is no number of shadows."""
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST_SHADOWS:
        raise SpecError(
            f"shadows is how many parts an attack makes to learn from, 0 (no such attack) to {MOST_SHADOWS}; got "
            f"{count!r:.40}"
        )
    return count


def _joined(one: Split, other: Split) -> Split:
    return Split(torch.cat([one.x, other.x.to(one.x)]), torch.cat([one.y, other.y.to(one.y)]))


def _rows(samples: Split, rows: Tensor) -> Split:
    return Split(samples.x[rows.to(samples.x.device)], samples.y[rows.to(samples.y.device)])
