"""The job that trains the demonstration's specialists, for folders that have none."""

from __future__ import annotations

from typing import Any

from ...data import load
from ...report.chart_frame import chart_content
from ...report.charts_training import Curve, curve_of, training_chart
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
    curves: dict[str, Curve] = {}
    ids = list(range(len(data.classes)))
    found: dict[str, object] = {"specialists": len(ids), "curves": None}
    for first in range(0, len(ids), _TOGETHER):
        now = ids[first : first + _TOGETHER]
        tell(first, len(ids), f"training {' and '.join(data.classes[number] for number in now)}")
        team = train_specialists(
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
        names = [data.classes[number] for number in now]
        for history in team.histories:  # none where all were there already
            curves |= {
                name: curve_of(history, place) for place, name in enumerate(names[: len(history.seeds)])
            }
        found["curves"] = chart_content(training_chart(curves)) if curves else None
        tell(first + len(now), len(ids), f"{first + len(now)} of {len(ids)} are trained", found)
    return found
