"""The job that trains the demonstration's specialists, for folders that have none."""

from __future__ import annotations

from typing import Any

from ...data import load
from ...demo import EPOCHS, NET, PATIENCE
from ...specialists import train_specialists
from ..jobs import Tell

_TOGETHER = 2
"""Networks that train at once: all ten would be quicker still, but nobody would see how far they are."""


def run(settings: dict[str, Any], tell: Tell) -> dict[str, object]:
    """Train a specialist for each class of `digits`, in slots, into ``settings["folder"]``."""
    data = load("digits")
    ids = list(range(len(data.classes)))
    for first in range(0, len(ids), _TOGETHER):
        now = ids[first : first + _TOGETHER]
        tell(first, len(ids), f"training {' and '.join(data.classes[number] for number in now)}")
        train_specialists(
            data,
            NET,
            now,
            slots=True,
            epochs=EPOCHS,
            patience=PATIENCE,
            folder=settings["folder"],
            progress=False,
        )
    return {"specialists": len(ids)}
