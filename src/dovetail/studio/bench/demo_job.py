"""The job that trains the demonstration's specialists, for folders that have none."""

from __future__ import annotations

from typing import Any

from ...data import load
from ...specialists import train_specialists
from ..draw.unsteady import unsteady
from ..jobs import Tell

_NET, _EPOCHS, _PATIENCE, _LR = "mlp:2000", 100, 20, 3e-3
"""Wider and longer than `dovetail demo`, and on unsteady images: these are drawn for, and must read more than tests."""

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
            _NET,
            now,
            slots=True,
            epochs=_EPOCHS,
            patience=_PATIENCE,
            lr=_LR,
            augment=unsteady,
            folder=settings["folder"],
            progress=False,
        )
    return {"specialists": len(ids)}
