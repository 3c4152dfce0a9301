"""What was read of somebody's own data, told before work begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .output import say

if TYPE_CHECKING:
    from ..data import Dataset

_MOST_NOTES = 5
"""That are printed; ``dovetail data check`` has all."""


def say_what_was_read(data: Dataset, text: str) -> None:
    """Print in a line or two what was read, and what was noticed; nothing for a set that is loaded by name.

    Parameters
    ----------
    data : Dataset
        The data.
    text : str
        What was typed to name it.
    """
    if data.preparation is not None:
        counts = ", ".join(f"{len(split):,} {name}" for name, split in data.splits.items())
        shape = " × ".join(map(str, data.input_shape))
        say(f"{data.name}: {data.outputs} classes; samples {counts}, of {shape} numbers.")
        say(f"Prepared: {data.preparation.describe()}.")
    for note in data.notes[:_MOST_NOTES]:
        say(f"note: {note}")
    if len(data.notes) > _MOST_NOTES:
        say(f"note: {len(data.notes) - _MOST_NOTES} more notes; dovetail data check {text} has all")


def what_was_read(data: Dataset) -> dict[str, object]:
    """Return what is printed for people as values for machines."""
    return {
        "name": data.name,
        "samples": {name: len(split) for name, split in data.splits.items()},
        "classes": list(data.classes),
        "preparation": None if data.preparation is None else data.preparation.describe(),
        "notes": list(data.notes),
    }
