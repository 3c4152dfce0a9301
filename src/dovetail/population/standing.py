"""Where each member stands: its best score, how long it has waited for a better one, whether it is done."""

from __future__ import annotations

import torch
from torch import Tensor


class Standing:
    """The standing of some members; scores are to be as low as possible.

    Parameters
    ----------
    members : int
        How many.
    patience : int or None
        A member is done after so many epochs without a better score.
    goal : float or None
        A member is done when its score is this low.

    Examples
    --------
    >>> standing, both, sound = Standing(2, patience=1, goal=None), torch.tensor([0, 1]), torch.ones(2).bool()
    >>> standing.update(both, torch.tensor([0.5, 0.5]), sound)
    (tensor([True, True]), tensor([False, False]))
    >>> standing.update(both, torch.tensor([0.4, 0.6]), sound)
    (tensor([ True, False]), tensor([False, False]))
    >>> standing.done
    tensor([False,  True])
    """

    def __init__(self, members: int, patience: int | None, goal: float | None) -> None:
        self._patience, self._goal = patience, goal
        self._best = torch.full((members,), torch.inf, dtype=torch.float64)
        self._waited = torch.zeros(members, dtype=torch.int64)
        self.done = torch.zeros(members, dtype=torch.bool)

    def update(self, members: Tensor, scores: Tensor, sound: Tensor) -> tuple[Tensor, Tensor]:
        """Take in an epoch's scores of some members; return who is better than ever, and who diverged.

        ``sound`` says whose training loss is a number; the others diverged and are done. A score that is no number
        is not better than any. Members that are done stay as they are.
        """
        live = ~self.done[members]
        diverged = live & ~sound
        better = live & sound & (scores < self._best[members])
        self._best[members] = torch.where(better, scores.double(), self._best[members])
        self._waited[members] = torch.where(better, 0, self._waited[members] + 1)
        self.done[members] |= diverged
        if self._patience is not None:
            self.done[members] |= self._waited[members] >= self._patience
        if self._goal is not None:
            self.done[members] |= self._best[members] <= self._goal
        return better, diverged
