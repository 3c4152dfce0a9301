"""Test images in the order of how hard they are for a composite."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ...specialists import max_entropy


@dataclass(frozen=True, eq=False)
class Ranking:
    """Samples from the worst to the best.

    Attributes
    ----------
    order : Tensor
        Their places in the split.
    loss : Tensor
        By place: for classes that the composite knows, how far it is from the true class; for others, how far it is
        from undecided.
    mistaken : Tensor
        By place: whether the class is known and another one was said.
    target : Tensor
        By place: the true class.
    """

    order: Tensor
    loss: Tensor
    mistaken: Tensor
    target: Tensor

    def chosen(self, number: int | None, only_mistakes: bool) -> Tensor:
        """Return the places of samples of one class, or of mistakes only, in order."""
        keep = torch.ones(len(self.order), dtype=torch.bool)
        if number is not None:
            keep &= self.target[self.order] == number
        if only_mistakes:
            keep &= self.mistaken[self.order]
        return self.order[keep]


def rank(logits: Tensor, target: Tensor, rewarded: tuple[int, ...]) -> Ranking:
    """Return samples by their max-entropy loss, the largest first.

    Examples
    --------
    Right, wrong, undecided as it should be, and sure where it should not:

    >>> logits = torch.tensor([[9.0, 0, 0], [0, 9.0, 0], [0, 0, 0], [9.0, 0, 0]])
    >>> ranking = rank(logits, torch.tensor([0, 0, 2, 2]), (0, 1))
    >>> ranking.order.tolist(), ranking.mistaken.tolist()
    ([1, 3, 0, 2], [False, True, False, False])
    """
    known = torch.zeros(logits.shape[1], dtype=torch.bool)
    known[list(rewarded)] = True
    loss = max_entropy(logits.double(), target, known)
    mistaken = known[target] & (logits.argmax(1) != target)
    return Ranking(loss.argsort(descending=True, stable=True), loss, mistaken, target)
