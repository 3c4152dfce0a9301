"""The specialists that one call trained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, overload

import torch

from ..data.dataset import Split
from ..population import History
from .networks import evaluate_all
from .score import Score
from .specialist import Specialist

if TYPE_CHECKING:
    import pandas as pd


class Team(Sequence[Specialist]):
    """A list of specialists, by seed and then in the order of the rewarded sets.

    Attributes
    ----------
    histories : list of History
        How training went: one for each round (in slots, for each size of set and round). Empty for teams put
        together by hand.
    seconds : float
        How long training took.

    Examples
    --------
    >>> import dovetail as dt
    >>> team = dt.train_specialists(dt.load("digits"), "mlp:32", [3, 8], seeds=[0, 1], epochs=2, progress=False)
    >>> len(team), [part.seed for part in team]
    (4, [0, 0, 1, 1])
    >>> [part.rewarded for part in team.of_seed(1)]
    [(3,), (8,)]
    """

    def __init__(
        self, specialists: Iterable[Specialist], histories: Iterable[History] = (), seconds: float = 0.0
    ) -> None:
        self._specialists = list(specialists)
        self.histories = list(histories)
        self.seconds = seconds

    @overload
    def __getitem__(self, place: int) -> Specialist: ...
    @overload
    def __getitem__(self, place: slice) -> Team: ...
    def __getitem__(self, place: int | slice) -> Specialist | Team:
        if isinstance(place, slice):
            return Team(self._specialists[place])
        return self._specialists[place]

    def __len__(self) -> int:
        return len(self._specialists)

    def __iter__(self) -> Iterator[Specialist]:
        return iter(self._specialists)

    def __repr__(self) -> str:
        if not self:
            return "Team()"
        seeds = f", {len(self.seeds)} seeds" if len(self.seeds) > 1 else ""
        return f"Team({len(self)} specialists on {self[0].record.data}, {self[0].basis.net}{seeds})"

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that occur."""
        return tuple(dict.fromkeys(part.seed for part in self))

    def of_seed(self, seed: int) -> Team:
        """Return the specialists of one seed, which share their θ0."""
        return Team(part for part in self if part.seed == seed)

    def evaluate(self, split: Split, *, device: torch.device | str | None = None) -> list[Score]:
        """Measure every specialist on a split, together."""
        return evaluate_all(self._specialists, split, device=device)

    def to_frame(self, split: Split | None = None) -> pd.DataFrame:
        """Return a table with a row per specialist; with a split, what each scores on it."""
        import pandas as pd

        table = pd.DataFrame(
            {
                "classes": [part.knows for part in self],
                "seed": [part.seed for part in self],
                "loss": [part.record.loss for part in self],
                "sparsity": [part.sparsity for part in self],
            }
        )
        if split is not None:
            scores = self.evaluate(split)
            table["rewarded_accuracy"] = [score.rewarded_accuracy for score in scores]
            table["entropy"] = [score.entropy for score in scores]
            table["leakage"] = [float(score.leakage.nanmean()) for score in scores]
        return table
