"""A progress bar: with rate and time left, on terminals only."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

_WIDE = 110
"""Columns from which a terminal has room for everything."""


class ProgressBar:
    """Counts network-steps, one step of one member, or other units of work.

    Nothing is shown when ``show`` is false or when the error stream is not a terminal; no rate without a ``unit``. With
    ``steady`` the time left is judged by all that is done, not by the last half minute.
    """

    def __init__(
        self, title: str, total: int, *, show: bool, unit: str | None = "steps", steady: bool = False
    ) -> None:
        self._unit = unit
        console = Console(stderr=True)
        wide = console.width >= _WIDE
        rated = wide and unit is not None
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20 if wide else 6),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[message]}", markup=False),
            *([TextColumn("{task.fields[rate]}")] if rated else []),
            console=console,
            transient=True,
            speed_estimate_period=1e9 if steady else 30.0,
            disable=not (show and console.is_terminal),
        )
        self._task = self._bar.add_task(title, total=total, rate="", message="")

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def advance(self, network_steps: int, message: str = "") -> None:
        """Record finished steps and what is worth showing of them."""
        self._bar.advance(self._task, network_steps)
        speed = self._bar.tasks[0].speed or self._bar.tasks[0].finished_speed
        self._bar.update(self._task, rate=f"{_short(speed)} {self._unit}/s" if speed else "", message=message)


def _short(number: float) -> str:
    """Return a number in a few characters.

    Examples
    --------
    >>> _short(950), _short(12_345), _short(147_000), _short(3_200_000)
    ('950', '12k', '147k', '3.2M')
    """
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.{int(number < 10 * size)}f}{letter}"
    return f"{number:.0f}"
