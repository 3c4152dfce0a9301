"""Progress of reading, where somebody looks at a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import track

_FEW = 4
"""Steps that nobody waits for."""

Step = TypeVar("Step")


def shown(steps: Sequence[Step], title: str) -> Iterable[Step]:
    """Return steps as they are, with a bar that goes away at the end.

    Examples
    --------
    >>> list(shown(range(3), "reading"))
    [0, 1, 2]
    """
    console = Console(stderr=True)
    quiet = not console.is_terminal or len(steps) < _FEW
    return track(steps, title, console=console, transient=True, disable=quiet)
