"""A progress bar for downloads, on terminals only, in the form that pooch drives."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)


class DownloadProgress:
    """What pooch expects of a progress bar: it sets ``total``, then calls ``update``, ``reset`` and ``close``."""

    def __init__(self, title: str) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(title, total=None)
        self._bar.start()

    @property
    def total(self) -> float | None:
        """Size of the file in bytes, when it is known."""
        return self._bar.tasks[0].total

    @total.setter
    def total(self, size: int) -> None:
        self._bar.update(self._task, total=size)

    def update(self, size: int) -> None:
        """Count bytes that have arrived."""
        self._bar.advance(self._task, size)

    def reset(self) -> None:
        """Start counting again; pooch does so before it closes."""
        self._bar.update(self._task, completed=0)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()
