"""A first answer while factors are fitted: from few samples, because fitting to all of them takes a second or more."""

from __future__ import annotations

from dataclasses import replace

from ...specialists import Composite, Specialist
from ..held_data import HeldData
from .methods import put_together

FIRST_INPUTS = 128
"""Training samples to fit to."""
FIRST_SAMPLES = 500
"""Test samples to measure on, at most; never all, so that the page asks again."""

_QUICK = 10**9
"""Multiplications of one pass over all samples up to which the fit itself is quick enough."""


def first_fit(members: list[Specialist], data: HeldData) -> Composite | None:
    """Return a calibrated sum with factors from few samples, or None where the fit to all is as quick."""
    weights = sum(packed.shape.numel() for member in members for packed in member.weights.values())
    if weights * len(data.inputs) <= _QUICK:
        return None
    return put_together(members, "calibrated", replace(data, inputs=data.inputs[:FIRST_INPUTS]))
