"""What became of a unit."""

from __future__ import annotations

from dataclasses import dataclass

from ..recipes import Unit
from ..recipes.unit import Row


@dataclass(frozen=True)
class Outcome:
    """A unit that was done, or could not be.

    Attributes
    ----------
    unit : Unit
        What was to be done.
    row : dict, optional
        What came out, if it was done.
    seconds : float
        How long it took.
    device : str
        What it ran on.
    error : str
        Why it could not be done.
    trace : str
        The traceback of an error that nobody foresaw.
    """

    unit: Unit
    row: Row | None = None
    seconds: float = 0.0
    device: str = ""
    error: str = ""
    trace: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the outcome without its unit, as values that JSON can hold."""
        return {
            "row": self.row,
            "seconds": round(self.seconds, 3),
            "device": self.device,
            "error": self.error,
            "trace": self.trace,
        }
