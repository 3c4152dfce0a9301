"""Sculptures of several seeds: a list that can say what they have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, overload

from ..result import Result
from .consensus import WITHIN, Consensus, consensus
from .sculpture import Sculpture

if TYPE_CHECKING:
    import pandas as pd


class Sculptures(Result, Sequence[Sculpture]):
    """Sculptures for one task, in the order of their seeds; made by `sculpt_seeds`, or of files that were opened.

    Examples
    --------
    >>> import dovetail as dt
    >>> found = dt.sculpt_seeds("y1 = x1 & x2", [4], seeds=[0, 1], unit_steps=[0.5], edge_steps=[0.1], progress=False)
    >>> found
    Sculptures('formulas', 2 seeds, 2 searches)
    >>> found.to_frame()[["seed", "outcome", "edges", "modules"]]
       seed   outcome  edges  modules
    0     0  sculpted      3        1
    1     1  sculpted      3        1
    """

    def __init__(self, sculptures: Iterable[Sculpture]) -> None:
        self._sculptures = list(sculptures)

    @overload
    def __getitem__(self, place: int) -> Sculpture: ...
    @overload
    def __getitem__(self, place: slice) -> Sculptures: ...
    def __getitem__(self, place: int | slice) -> Sculpture | Sculptures:
        if isinstance(place, slice):
            return Sculptures(self._sculptures[place])
        return self._sculptures[place]

    def __len__(self) -> int:
        return len(self._sculptures)

    def __iter__(self) -> Iterator[Sculpture]:
        return iter(self._sculptures)

    def __repr__(self) -> str:
        if not self:
            return "Sculptures()"
        searches = sum(len(sculpture.searches) for sculpture in self)
        return f"Sculptures({self[0].task!r}, {len(self)} seed{'s' * (len(self) != 1)}, {searches} searches)"

    def consensus(self, within: float = WITHIN) -> Consensus:
        """Return the module structure that most of their searches end with, and how sure each module is.

        A single sculpture is one of many networks with about as few edges, whose modules often differ.

        Parameters
        ----------
        within : float
            Networks vote that have at most so many times the fewest edges of their seed; 1 lets ties vote alone.

        Examples
        --------
        >>> import dovetail as dt
        >>> found = dt.sculpt_seeds([4, 2, 4], [12], range(3), unit_steps=[0.3, 0.5], edge_steps=[0.02], progress=False)
        >>> found.consensus().to_frame()[["inputs", "outputs"]]
           inputs outputs
        0  [0, 1]  [0, 1]
        1  [2, 3]  [2, 3]
        """
        return consensus(self._sculptures, within)

    def to_dict(self) -> dict[str, object]:
        """Return all of them as plain values, ready for JSON."""
        return {"sculptures": [sculpture.to_dict() for sculpture in self]}

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each."""
        import pandas as pd

        return pd.DataFrame(
            {
                "seed": [sculpture.seed for sculpture in self],
                "outcome": [sculpture.outcome for sculpture in self],
                "accuracy": [sculpture.accuracy for sculpture in self],
                "edges": [sculpture.edges for sculpture in self],
                "modules": [
                    None if sculpture.outcome == "not learned" else len(sculpture.hierarchy.modules)
                    for sculpture in self
                ],
                "tied": [sculpture.tied for sculpture in self],
            }
        )
