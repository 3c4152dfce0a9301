"""Drawings of digits as hands make them, without a hand: 240, half to choose by, half to score on.

There are six ways to write each digit. Three of them, with four variations each, are to choose a preparation or a
network by; the other three are scored once, and nothing is chosen on them. Variations differ in size, proportions,
slant, tilt, place on the pad and in how unsteady the hand is. Everything follows from the seed.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from .strokes import Points, drawn

Half = Literal["choose", "score"]

PEN, SIDE = 9, 112
"""Of the page's pad."""

VARIATIONS = 4

_SEED = 20261119

_MARGIN = 6

WAYS: dict[int, list[str]] = {
    0: [
        "55,0 15,15 0,50 15,88 50,100 85,85 100,50 85,12 50,0",
        "45,2 10,25 8,70 40,100 80,85 95,45 70,8 35,8",
        "60,5 90,30 90,70 55,100 15,75 10,35 40,0 75,10",
        "50,0 20,20 12,55 30,93 60,98 85,70 85,30 60,0",
        "70,6 30,2 2,35 10,80 50,100 90,80 100,40 80,10 60,10",
        "30,10 5,50 25,95 70,95 100,55 80,8 40,0 20,18",
    ],
    1: [
        "50,0 50,100",
        "15,25 55,0 / 55,0 50,100",
        "30,20 55,2 / 55,2 52,100",
        "62,0 50,50 40,100",
        "25,18 52,0 / 52,0 50,100 / 25,98 75,100",
        "20,22 50,0 / 50,0 50,100 / 20,100 80,100",
    ],
    2: [
        "5,25 30,2 75,5 90,30 60,65 5,100 / 5,100 100,100",
        "10,30 25,5 60,0 85,20 75,50 35,80 0,100 / 0,100 90,95",
        "5,15 45,0 85,20 70,60 30,92 8,90 15,75 45,85 100,100",
        "0,20 35,0 80,10 80,40 40,75 0,98 / 0,98 50,93 100,100",
        "10,20 50,0 90,25 65,65 10,100 / 10,100 95,100",
        "8,28 40,0 82,15 75,50 35,85 10,95 12,80 40,85 95,98",
    ],
    3: [
        "10,10 50,0 85,20 70,42 35,48 / 35,48 80,55 95,78 60,100 5,90",
        "5,15 40,0 80,12 75,38 30,50 / 30,50 75,58 85,85 40,100 0,85",
        "10,0 90,0 / 90,0 40,40 / 40,40 85,55 90,80 50,100 5,90",
        "15,5 60,0 90,18 75,40 40,46 / 40,46 85,60 85,88 45,100 5,92",
        "0,20 30,2 75,5 80,30 40,47 / 40,47 90,60 95,85 50,100 10,95",
        "10,8 55,0 80,22 50,45 30,45 / 30,45 70,50 90,75 65,98 0,95",
    ],
    4: [
        "30,0 2,60 / 2,60 100,60 / 75,25 70,100",
        "10,0 5,30 10,52 / 10,52 90,50 / 85,0 80,100",
        "65,0 0,65 / 0,65 100,65 / 65,0 65,100",
        "25,0 5,50 / 5,50 95,52 / 80,5 65,100",
        "15,2 2,35 20,55 60,52 85,45 / 90,5 75,100",
        "70,0 2,62 / 2,62 98,62 / 72,10 65,100",
    ],
    5: [
        "90,0 20,0 / 20,0 12,42 / 12,42 60,38 92,65 65,97 2,92",
        "25,0 15,45 / 15,45 55,40 85,68 55,100 5,90 / 25,0 95,2",
        "85,3 25,0 / 25,0 20,40 / 20,40 70,45 80,80 40,100 0,90",
        "95,0 25,3 / 25,3 10,45 / 10,45 50,35 90,55 85,88 40,100 0,85",
        "20,2 18,48 / 18,48 65,45 85,75 45,100 0,95 / 20,2 90,0",
        "80,0 30,0 / 30,0 15,40 / 15,40 65,50 75,80 35,100 5,95",
    ],
    6: [
        "75,0 25,35 5,72 35,100 85,90 90,62 50,50 10,68",
        "60,0 15,40 10,80 45,100 85,82 75,55 40,52 12,75",
        "40,0 8,45 10,85 50,100 90,85 85,58 45,50 10,70",
        "85,2 35,25 5,65 25,97 70,97 90,70 60,50 15,65",
        "50,0 12,50 25,95 65,98 80,72 50,55 15,72",
        "70,5 40,2 8,40 12,88 50,100 85,78 60,55 20,65",
    ],
    7: [
        "0,0 95,0 / 95,0 55,50 35,100",
        "5,5 90,0 / 90,0 50,45 30,100 / 20,48 80,48",
        "5,0 100,2 / 100,2 45,100",
        "0,15 5,2 / 5,2 95,0 / 95,0 60,50 45,100",
        "10,0 90,5 / 90,5 30,100 / 30,52 85,48",
        "0,5 50,3 90,0 / 90,0 60,40 50,100",
    ],
    8: [
        "80,12 45,0 15,22 50,48 88,78 50,100 10,78 50,48 85,20 70,5",
        "50,0 20,20 45,45 80,25 50,0 / 45,45 10,75 50,100 90,75 45,45",
        "90,10 50,0 15,20 40,45 80,70 60,100 15,85 30,60 90,15",
        "50,47 15,25 50,0 85,22 50,47 8,78 50,100 92,78 50,47",
        "75,8 35,2 20,28 55,50 85,80 45,100 12,80 45,50 82,25 72,6",
        "45,2 12,22 50,46 82,22 50,0 / 50,46 15,80 50,100 85,75 50,46",
    ],
    9: [
        "85,20 50,0 12,20 30,48 75,40 87,20 / 87,15 80,60 70,100",
        "80,10 35,5 12,35 45,52 82,30 / 82,10 85,60 60,98 10,92",
        "90,15 55,0 10,18 15,45 60,50 90,20 / 90,15 88,100",
        "82,25 50,2 10,25 35,52 80,30 / 82,20 75,60 45,100",
        "78,8 30,8 15,40 50,50 80,25 / 80,5 82,100",
        "85,18 45,0 10,28 45,50 85,25 / 86,20 90,65 65,97 20,95",
    ],
}
"""Strokes as points that a steady hand would go through, in a box of side 100, y down. Every other way is of a half."""


class Scripted(NamedTuple):
    """A drawing: its pixels on the pad, and what it is."""

    ink: NDArray[np.float64]
    digit: int


@cache
def scripted_drawings(half: Half) -> list[Scripted]:
    """Return the 120 drawings of a half, 12 of each digit."""
    first = {"choose": 0, "score": 1}[half]
    return [
        Scripted(drawn(_variation(way, np.random.default_rng([_SEED, digit, number, variation])), PEN, SIDE), digit)
        for digit, ways in WAYS.items()
        for number, way in list(enumerate(ways))[first::2]
        for variation in range(VARIATIONS)
    ]  # fmt: skip


def another_hand(way: str, number: int) -> list[Points]:
    """Return strokes on the pad, of any sign, as one of many hands would have them."""
    return _variation(way, np.random.default_rng([_SEED, number]))


def _variation(way: str, random: np.random.Generator) -> list[Points]:
    """Return strokes on the pad, as a hand would have them this time."""
    height = random.uniform(42, 92)
    width = height * random.uniform(0.45, 0.8)
    slant, tilt = random.uniform(-0.1, 0.3), np.deg2rad(random.uniform(-8, 8))
    turn = np.array([[np.cos(tilt), -np.sin(tilt)], [np.sin(tilt), np.cos(tilt)]])
    shear = np.array([[1, -slant], [0, 1]])
    unsteady = 0.02 * height
    strokes = [
        (_through(stroke) * (width, height)) @ shear.T @ turn.T + _drift(random, unsteady)
        for stroke in way.split(" / ")
    ]
    points = np.concatenate(strokes)
    low, high = points.min(0), points.max(0)
    room = SIDE - 2 * _MARGIN - (high - low)
    shrink = min(1.0, float((SIDE - 2 * _MARGIN) / (high - low).max()))
    place = _MARGIN + random.uniform(0, 1, 2) * np.clip(room, 0, None)
    return [np.asarray((stroke - low) * shrink + place) for stroke in strokes]


def _through(stroke: str, steps: int = 40) -> Points:
    """Return points on a smooth curve through some; a straight line through two."""
    points = np.array([point.split(",") for point in stroke.split()], dtype=float) / 100
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    at = np.linspace(0, along[-1], steps)
    if len(points) == 2:
        line: Points = points[0] + (at / along[-1])[:, None] * (points[1] - points[0])
        return line
    curve: Points = CubicSpline(along, points)(at)
    return curve


def _drift(random: np.random.Generator, size: float, steps: int = 40) -> Points:
    """Return how far an unsteady hand is off: a few slow waves along the stroke."""
    at = np.linspace(0, 2 * np.pi, steps)[:, None]
    waves = (np.sin(frequency * at + random.uniform(0, 2 * np.pi, 2)) for frequency in (0.5, 1, 2))
    drift: Points = size * np.sum([random.normal(0, 0.5, 2) * wave for wave in waves], axis=0)
    return drift
