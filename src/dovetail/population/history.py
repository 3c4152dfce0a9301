"""History of a fit: what happened, epoch by epoch and member by member."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from ..result import Result

if TYPE_CHECKING:
    import pandas as pd

Keep = Literal["best", "last"]
"""Which epoch's weights a member ends with: its best, or the last that it trained."""


@dataclass
class History(Result):
    """The record of a fit.

    Attributes
    ----------
    seeds : tuple of int
        The members' seeds.
    values : dict of str to Tensor
        ``{name: [epochs, members]}``, float64: ``"train_loss"``, and on the validation split ``"loss"`` and
        each metric. NaN where a member had stopped.
    epochs : Tensor
        How many epochs each member trained.
    kept_epoch : Tensor
        The epoch (from 0) whose weights each member has now; -1 when no epoch had a score, or when it diverged and the
        last epoch was to be kept, so that it has those it started with.
    diverged : Tensor
        Whether a member's training loss became NaN or infinite, which stopped it.
    seconds : float
        Wall-clock time of the fit.
    """

    seeds: tuple[int, ...]
    values: dict[str, Tensor]
    epochs: Tensor
    kept_epoch: Tensor
    diverged: Tensor
    seconds: float = 0.0

    @classmethod
    def empty(cls, seeds: tuple[int, ...], epochs: int, names: list[str]) -> History:
        """Return a record with nothing in it yet."""
        members = len(seeds)
        values = {name: torch.full((epochs, members), torch.nan, dtype=torch.float64) for name in names}
        zeros = torch.zeros(members, dtype=torch.int64)
        return cls(seeds, values, zeros, zeros - 1, zeros.bool())

    @classmethod
    def joined(cls, parts: Sequence[History]) -> History:
        """Return the record of members that were trained in several parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            tuple(seed for part in parts for seed in part.seeds),
            {name: torch.cat([part.values[name] for part in parts], 1) for name in parts[0].values},
            torch.cat([part.epochs for part in parts]),
            torch.cat([part.kept_epoch for part in parts]),
            torch.cat([part.diverged for part in parts]),
            sum(part.seconds for part in parts),
        )

    def add(
        self, epoch: int, members: Tensor, values: dict[str, Tensor], live: Tensor, diverged: Tensor
    ) -> None:
        """Take in an epoch of some members: what was measured of those still live, and who diverged in it."""
        for name, value in values.items():
            self.values[name][epoch, members[live]] = value[live]
        self.epochs[members[live]] = epoch + 1
        self.diverged[members[diverged]] = True

    def __getitem__(self, name: str) -> Tensor:
        return self.values[name]

    def __repr__(self) -> str:
        first, last = int(self.epochs.min()), int(self.epochs.max())
        epochs = f"{first}" if first == last else f"{first}-{last}"
        return f"History({len(self.seeds)} members, {epochs} epochs, {', '.join(self.values)}, {self.seconds:.1f} s)"

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per member and epoch that was trained."""
        import pandas as pd

        epochs, members = next(iter(self.values.values())).shape
        columns = {
            "member": torch.arange(members).repeat(epochs),
            "seed": torch.tensor(self.seeds).repeat(epochs),
            "epoch": torch.arange(epochs).repeat_interleave(members),
        }
        table = pd.DataFrame({k: v.numpy() for k, v in columns.items()})
        for name, value in self.values.items():
            table[name] = value.flatten().numpy()
        trained = (torch.arange(epochs).unsqueeze(1) < self.epochs).flatten().numpy()
        return table[trained].sort_values(["member", "epoch"], ignore_index=True)
