"""Folders for the bench's tests: random specialists that say they were trained on `digits`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import dovetail as dt
from dovetail.specialists import Specialist
from tests.specialists.helpers import make_specialist

DIGITS = dt.load("digits")


def digit_specialist(
    rewarded: tuple[int, ...],
    net: str = "mlp:12",
    *,
    seed: int = 0,
    slots: bool = False,
    data: str = "digits",
) -> Specialist:
    """A specialist with random weights for the digits."""
    part = make_specialist(
        rewarded, net, seed=seed, slots=slots, shape=DIGITS.input_shape, classes=DIGITS.classes
    )
    provenance = replace(part.provenance, data=data, fingerprint=DIGITS.fingerprint)
    return Specialist(part.blueprint, part.rewarded, part.weights, provenance)


def save_team(folder: Path, net: str = "mlp:12", *, count: int = 4, slots: bool = False) -> list[Specialist]:
    """Specialists of the first digits, saved as ``0.safetensors`` and so on."""
    team = [digit_specialist((number,), net, slots=slots) for number in range(count)]
    for number, part in enumerate(team):
        part.save(folder / f"{number}.safetensors")
    return team


def names(*numbers: int) -> list[str]:
    """The files of some members of a saved team."""
    return [f"{number}.safetensors" for number in numbers]
