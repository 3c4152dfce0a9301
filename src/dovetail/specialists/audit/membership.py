"""Membership attacks: whether a network's answers tell which samples of a class were in training.

Training samples of a class against test samples of it, which the network never had. Where the class was left out of
training altogether both are as foreign to the network, and no attack can do better than chance.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from ...data.split import Split
from ...errors import DataError
from ...result import Result
from ...threads import one_blas_thread
from ..evaluate import auroc, run_network

_FEWEST = 4
"""Samples of each side that an attack needs: half of them to learn from, half to be measured on."""


@dataclass(frozen=True)
class MembershipAttack(Result):
    """How well attacks tell samples that were in training from others; .5 is chance.

    Attributes
    ----------
    confidence : float
        The probability that the network is surer of a sample from training than of another: AUROC of its largest
        probability. Below .5 it is less sure of those that it was trained on, which tells as much.
    neural : float
        AUROC of a small network that reads all outputs, was told of half of the samples which of them were in
        training, and is measured on the other half.
    members, others : int
        How many samples of each kind there were.
    shadow : float or None
        AUROC of such a network that was told nothing of the one it attacks: it learned from others that were made in
        the same way, of which it knows what was in training (`audit_drop` with ``shadows=``).

    Examples
    --------
    >>> found = MembershipAttack(0.52, 0.7, 400, 100)
    >>> [f"{edge:.3f}" for edge in found.chance], found.tells
    (['0.437', '0.563'], True)
    """

    confidence: float
    neural: float
    members: int
    others: int
    shadow: float | None = None

    @property
    def chance(self) -> tuple[float, float]:
        """Between which values 95 of 100 attacks by confidence, or by shadows, are that know nothing."""
        return chance_of(self.members, self.others)

    @property
    def neural_chance(self) -> tuple[float, float]:
        """Between which values 95 of 100 neural attacks are that know nothing."""
        return chance_of(self.members - self.members // 2, self.others - self.others // 2)

    @property
    def tells(self) -> bool:
        """Whether one of them is outside of what is chance."""
        pairs = [(self.confidence, self.chance), (self.neural, self.neural_chance)]
        if self.shadow is not None:
            pairs.append((self.shadow, self.chance))
        return any(not low <= value <= high for value, (low, high) in pairs)

    def to_dict(self) -> dict[str, object]:
        """Return all attacks, and what is chance for them, as plain values."""
        return {**super().to_dict(), "chance": list(self.chance), "neural_chance": list(self.neural_chance)}


def chance_of(members: int, others: int) -> tuple[float, float]:
    """Return between which values the AUROC is in 95 of 100 cases if it is of nothing (that of Mann and Whitney's U).

    Examples
    --------
    >>> low, high = chance_of(1000, 1000)
    >>> round(low, 3), round(high, 3)
    (0.475, 0.525)
    """
    half = 1.96 * math.sqrt((members + others + 1) / (12 * members * others))
    return 0.5 - half, 0.5 + half


def membership_attack(
    network: nn.Module, members: Split, others: Split, *, seed: int = 0
) -> MembershipAttack:
    """Attack a network with samples that may have been in its training, and others that surely were not.

    Parameters
    ----------
    network : nn.Module
        From samples to logits.
    members, others : Split
        Samples of the same classes: those in question, and others.
    seed : int
        What the halves and the attacking network's first weights are drawn from.

    References
    ----------
    Shokri, Stronati, Song, Shmatikov: "Membership Inference Attacks Against Machine Learning Models", IEEE S&P 2017.
    Yeom, Giacomelli, Fredrikson, Jha: "Privacy Risk in Machine Learning", CSF 2018.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> blank = dt.build_net("mlp:16", data.input_shape, data.outputs, seed=0).eval()
    >>> membership_attack(blank, data.train.where(data.train.y == 3), data.test.where(data.test.y == 3)).tells
    False
    """
    for name, split in (("training", members), ("other", others)):
        if len(split) < _FEWEST:
            raise DataError(
                f"an attack needs at least {_FEWEST} samples of each kind; there are {len(split)} {name} ones"
            )
    sides = [_log_probabilities(network, split) for split in (members, others)]
    surest, unsure = (log_p.amax(1) for log_p in sides)
    read = [_read(log_p, split.y) for log_p, split in zip(sides, (members, others), strict=True)]
    return MembershipAttack(auroc(surest, unsure), _neural_attack(read, seed), len(members), len(others))


def taken_for_unseen(network: nn.Module, kept: Split, unseen: Split, gone: Split) -> float:
    """Return for what share of samples the usual attack of the literature on unlearning says that they were never seen.

    It learns on classes that stay, from the probability of a sample's own class, to tell training samples from test
    samples. A class that a network has no answer for is always taken for unseen, so methods are hardly told apart by
    it; `membership_attack` is about the class itself.

    Parameters
    ----------
    network : nn.Module
        From samples to logits.
    kept, unseen : Split
        Training and test samples of classes that stay.
    gone : Split
        Training samples of what is to be forgotten.

    References
    ----------
    Jia et al.: "Model Sparsity Can Simplify Machine Unlearning", NeurIPS 2023 (MIA-efficacy).

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> blank = dt.build_net("mlp:16", data.input_shape, data.outputs, seed=0).eval()
    >>> 0 <= taken_for_unseen(blank, data.train, data.test, data.train.where(data.train.y == 3)) <= 1
    True
    """
    from sklearn.svm import SVC

    count = min(len(kept), len(unseen), _MOST_TO_LEARN_FROM)
    draw = torch.Generator().manual_seed(0)
    some = [split.where(torch.randperm(len(split), generator=draw)[:count]) for split in (kept, unseen)]
    inside, outside, asked = (
        _log_probabilities(network, split)[torch.arange(len(split)), split.y].exp()[:, None].numpy()
        for split in (*some, gone)
    )
    attack = SVC(C=3.0, gamma="auto")
    with one_blas_thread():
        attack.fit(np.concatenate([inside, outside]), [1] * count + [0] * count)
        return float((attack.predict(asked) == 0).mean())


_MOST_TO_LEARN_FROM = 2000
"""Samples of each side that the literature's attack learns from here; its time grows with the square."""


def _log_probabilities(network: nn.Module, split: Split) -> Tensor:
    place = next(iter([*network.parameters(), *network.buffers()]), split.x).device
    return run_network(network, split.x.to(place)).double().log_softmax(1).cpu()


def read_answers(network: nn.Module, split: Split) -> Tensor:
    """Return what an attack reads of a network's answers to samples, ``[samples, numbers]``."""
    return _read(_log_probabilities(network, split), split.y)


def _read(log_p: Tensor, y: Tensor) -> Tensor:
    """Return what an attack reads of answers: all probabilities, also from the largest, that of the class, entropy."""
    own = log_p[torch.arange(len(y)), y.cpu()][:, None]
    entropy = -(log_p.exp() * log_p).sum(1, keepdim=True)
    return torch.cat([log_p, log_p.sort(1, descending=True).values, own, entropy], 1)


def _neural_attack(sides: list[Tensor], seed: int) -> float:
    """Return the AUROC, on half of the samples, of a network that learned on the other half which were in training."""
    draw = torch.Generator().manual_seed(seed)
    halves = [
        side[torch.randperm(len(side), generator=draw)].tensor_split([len(side) // 2]) for side in sides
    ]
    (told_in, asked_in), (told_out, asked_out) = halves
    attack = attacker(told_in, told_out, seed)
    return auroc(attack(asked_in), attack(asked_out))


Attacker = Callable[[Tensor], Tensor]
"""From what it reads of answers to how likely it is that each sample was in training."""


def attacker(inside: Tensor, outside: Tensor, seed: int) -> Attacker:
    """Return a small network that has learned from answers to samples that were in training, and to others."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    network = make_pipeline(
        StandardScaler(), MLPClassifier((32,), alpha=0.1, max_iter=200, random_state=seed)
    )
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it need not have learned all of them by heart
        network.fit(torch.cat([inside, outside]).numpy(), [1] * len(inside) + [0] * len(outside))

    def likely(read: Tensor) -> Tensor:
        with one_blas_thread():
            return torch.from_numpy(network.predict_proba(read.numpy())[:, 1])

    return likely
