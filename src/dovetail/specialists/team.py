"""Teams: specialists in a list, as training gives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, overload

import torch

from ..data.dataset import Dataset
from ..data.split import Split
from ..errors import SpecError, unknown_name
from ..population import History
from ..result import Result, plain
from .evaluate import Score, evaluate_all
from .introduction import CLAIMED, KEEPING, LR, STEPS, introduce
from .part import Part
from .specialist import Specialist

if TYPE_CHECKING:
    import pandas as pd


class Team(Sequence[Specialist], Result):
    """A list of specialists, by seed and then in the order of the rewarded sets; by name, who knows a class.

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
    >>> team.of_seed(1)["8"].known
    ('8',)
    """

    def __init__(
        self, specialists: Iterable[Specialist], histories: Iterable[History] = (), seconds: float = 0.0
    ) -> None:
        self._specialists = list(specialists)
        self.histories = list(histories)
        self.seconds = seconds

    @overload
    def __getitem__(self, place: int | str) -> Specialist: ...
    @overload
    def __getitem__(self, place: slice) -> Team: ...
    def __getitem__(self, place: int | str | slice) -> Specialist | Team:
        if isinstance(place, slice):
            return Team(self._specialists[place])
        if isinstance(place, str):
            return self._who_knows(place)
        return self._specialists[place]

    def _who_knows(self, name: str) -> Specialist:
        """Return the one specialist that knows a class."""
        found = [part for part in self if name in part.known]
        if not found:
            raise unknown_name("class", name, {each for part in self for each in part.known})
        if len(found) > 1:
            way = (
                f"team.of_seed({found[0].seed})[{name!r:.80}]" if len(self.seeds) > 1 else "one by its place"
            )
            raise SpecError(f"{len(found)} specialists know {name!r:.80}; write {way}")
        return found[0]

    def __len__(self) -> int:
        return len(self._specialists)

    def __iter__(self) -> Iterator[Specialist]:
        return iter(self._specialists)

    def __repr__(self) -> str:
        if not self:
            return "Team()"
        seeds = f", {len(self.seeds)} seeds" if len(self.seeds) > 1 else ""
        return f"Team({len(self)} specialists on {self[0].provenance.data}, {self[0].blueprint.net}{seeds})"

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that occur."""
        return tuple(dict.fromkeys(part.seed for part in self))

    def of_seed(self, seed: int) -> Team:
        """Return the specialists of one seed, which share their θ0."""
        return Team(part for part in self if part.seed == seed)

    def introduce(
        self,
        more: Iterable[Part] | Part,
        data: Dataset | None = None,
        *,
        steps: int = STEPS,
        lr: float = LR,
        keeping: float = KEEPING,
        claimed: float = CLAIMED,
        seed: int = 0,
        device: torch.device | str | None = None,
        progress: bool = True,
    ) -> Team:
        """Return these specialists, undecided on classes that others know of; those that are so already as they are.

        Parameters
        ----------
        more : Team, Specialist, Composite or list of them
            What recognises the new classes; see ``beside`` of `train_specialists`.
        data : Dataset, optional
            Samples of the new classes; by default they are drawn from their cards.
        steps, lr, keeping, claimed, seed, device, progress
            As for `introduce`.

        Examples
        --------
        >>> import dovetail as dt
        >>> data = dt.load("digits")
        >>> old = dt.train_specialists(data, "mlp:40", [3, 8], slots=True, epochs=2, progress=False)
        >>> new = [part.rename({"3": "three"}) for part in old[:1]]
        >>> [part.knows for part in old[1:].introduce(new, progress=False)]
        ['8']
        """
        return Team(
            introduce(
                self, more, data, steps=steps, lr=lr, keeping=keeping, claimed=claimed, seed=seed, device=device,
                progress=progress,
            )
        )  # fmt: skip

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
                "loss": [part.provenance.loss for part in self],
                "sparsity": [part.sparsity for part in self],
            }
        )
        if split is not None:
            scores = self.evaluate(split)
            table["rewarded_accuracy"] = [score.rewarded_accuracy for score in scores]
            table["entropy"] = [score.entropy for score in scores]
            table["leakage"] = [float(score.leakage.nanmean()) for score in scores]
        return table

    def to_dict(self) -> dict[str, object]:
        """Return a list of the specialists as plain values, ready for JSON."""
        return {"specialists": plain(self.to_frame().to_dict("records")), "seconds": self.seconds}
