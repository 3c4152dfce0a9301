"""A progress bar for a search whose length nobody knows: it counts the networks that have ended."""

from __future__ import annotations

from types import TracebackType

from ...population.progress import ProgressBar


class SearchProgress:
    """Shows the phase, and how many networks have ended and go on.

    Parameters
    ----------
    seeds, unit_steps, edge_steps : int
        How many there are; 0 steps for a phase that is left out.
    show : bool
        Whether to show anything.
    """

    def __init__(self, seeds: int, unit_steps: int, edge_steps: int, *, show: bool) -> None:
        units, cells = seeds * unit_steps, seeds * max(unit_steps, 1) * edge_steps
        self._bar = ProgressBar("sculpting", units + cells, show=show, unit="networks")
        self._ended: dict[str, int] = {}

    def __enter__(self) -> SearchProgress:
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.__exit__(kind, error, trace)

    def news(self, phase: str, ended: int, members: int) -> None:
        """Take in a round of a phase with so many members, of which some have just ended."""
        self._ended[phase] = self._ended.get(phase, 0) + ended
        self._bar.advance(ended, f"{phase}: {self._ended[phase]} of {members} networks done")
