"""Measuring: all that networks are asked about classes that were dropped, each network once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import torch
from torch import nn

from ...data.dataset import Dataset
from ...data.split import Split
from ..blueprint import hash_tensors
from ..evaluate import Score, run_network, score_logits
from .membership import MembershipAttack, membership_attack
from .probes import hidden_activations, probe_accuracy, sample
from .relearning import SAMPLES, STEPS, Relearning, relearn
from .retraining import marks
from .shadows import ShadowAttack

_Found = TypeVar("_Found")


class Measuring:
    """What is asked of every network, with the same samples.

    Networks that are the same to the bit are asked once: what was found of one is what is found of the other.

    Parameters
    ----------
    data : Dataset
        With training and test samples of all classes.
    gone, kept : sequence of int
        Ids of the classes that were dropped, and of those that are known beside them.
    samples, steps : sequence of int
        With how many samples to learn again, and after how many steps to measure.
    device : torch.device
        Where to.

    Attributes
    ----------
    some_training : Split
        At most `MOST_SAMPLES` training samples of all classes.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> ask = Measuring(data, [3], [1, 8], samples=[5], steps=[0, 5], device=torch.device("cpu"))
    >>> 0.5 < ask.probe(dt.build_net("mlp:16", data.input_shape, data.outputs, seed=0)) <= 1
    True
    """

    def __init__(
        self,
        data: Dataset,
        gone: Sequence[int],
        kept: Sequence[int],
        *,
        samples: Sequence[int] = SAMPLES,
        steps: Sequence[int] = STEPS,
        device: torch.device,
    ) -> None:
        self.data, self.gone, self.kept = data, list(gone), list(kept)
        self._samples, self._steps, self._device = samples, steps, device
        of_gone = marks(data.outputs, tuple(gone))
        self.some_training = sample(data.train)
        self._marked = [Split(split.x, of_gone[split.y.cpu()]) for split in (self.some_training, data.test)]
        self._members, self._others = (
            split.where(of_gone.bool()[split.y.cpu()]) for split in (data.train, data.test)
        )
        self._known: dict[tuple[str, str], object] = {}

    def score(self, network: nn.Module, rewarded: Sequence[int], split: Split | None = None) -> Score:
        """Return how well a network does on samples, by default those of the test split."""
        network, split = network.to(self._device), split or self.data.test
        logits = run_network(network, split.x.to(self._device))
        target = split.y.to(self._device)
        (score,) = score_logits(logits[None], target, [rewarded], self.data.classes)
        return score

    def probe(self, network: nn.Module) -> float:
        """Return how well a linear probe on its last hidden layer tells what was dropped from the others."""
        network = network.to(self._device)
        train, test = (
            Split(hidden_activations(network, split.x.to(self._device)).cpu(), split.y)
            for split in self._marked
        )
        return self._once("probe", hash_tensors({"hidden": test.x}), lambda: probe_accuracy(train, test, 1))

    def probe_inputs(self) -> float:
        """Return how well a linear probe does on the inputs themselves."""
        train, test = self._marked
        return probe_accuracy(train, test, 1)

    def relearning(self, network: nn.Module) -> Relearning:
        """Return how fast it learns what was dropped."""

        def learn() -> Relearning:
            return relearn(
                network, self.data.train, self.data.test, self.gone, self.kept,
                samples=self._samples, steps=self._steps, device=self._device,
            )  # fmt: skip

        return self._once("relearning", _weights_of(network), learn)

    def membership(self, network: nn.Module, shadowing: ShadowAttack | None = None) -> MembershipAttack:
        """Return how well attacks tell training samples of what was dropped from test samples."""
        network = network.to(self._device)
        found = self._once(
            "membership",
            _weights_of(network),
            lambda: membership_attack(network, self._members, self._others),
        )
        if shadowing is None:
            return found
        return replace(found, shadow=shadowing(network, self._members, self._others))

    def _once(self, what: str, digest: str, measure: Callable[[], _Found]) -> _Found:
        key = (what, digest)
        if key not in self._known:
            self._known[key] = measure()
        return self._known[key]  # type: ignore[return-value]


def _weights_of(network: nn.Module) -> str:
    # Two kinds of network with the same tensors would be told apart by their classes.
    return type(network).__name__ + hash_tensors(network.state_dict())
