"""Digits as strokes of a pen, to draw with: on a pad of numbers, or with a mouse."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

Points = NDArray[np.float64]


def arc(centre: tuple[float, float], radii: tuple[float, float], start: float, end: float) -> Points:
    """Return points on an ellipse from one angle to another, in degrees; 0 is right and 90 is down."""
    turn = np.deg2rad(np.linspace(start, end, 25))
    return np.array(centre) + np.stack([radii[0] * np.cos(turn), radii[1] * np.sin(turn)], 1)


def line(*points: tuple[float, float]) -> Points:
    """Return the corners of a line."""
    return np.array(points, dtype=float)


def eight() -> Points:
    """Return an 8 in one go, the lower loop the larger one."""
    turn = np.linspace(0, 2 * np.pi, 41)
    width = np.where(np.cos(turn) > 0, 0.3, 0.36)
    return np.stack([0.5 - width * np.sin(2 * turn), 0.5 - 0.5 * np.cos(turn)], 1)


DIGITS: dict[int, list[Points]] = {
    0: [arc((0.5, 0.5), (0.32, 0.5), -90, 270)],
    1: [line((0.5, 0), (0.5, 1))],
    2: [np.concatenate([arc((0.5, 0.28), (0.34, 0.28), 190, 390), line((0.1, 1), (0.9, 1))])],
    3: [
        np.concatenate([arc((0.45, 0.25), (0.35, 0.25), 200, 450), arc((0.45, 0.74), (0.4, 0.26), -90, 150)])
    ],
    4: [line((0.5, 0), (0.1, 0.6), (0.9, 0.6)), line((0.7, 0.3), (0.55, 1))],
    5: [line((0.8, 0), (0.2, 0), (0.15, 0.42)), arc((0.42, 0.68), (0.38, 0.32), -130, 150)],
    6: [np.concatenate([line((0.6, 0), (0.22, 0.45)), arc((0.5, 0.72), (0.36, 0.28), 180, 540)])],
    7: [line((0.1, 0), (0.9, 0), (0.35, 1)), line((0.2, 0.5), (0.85, 0.5))],
    8: [eight()],
    9: [arc((0.5, 0.28), (0.34, 0.28), 0, 360), arc((0.42, 0.5), (0.42, 0.5), -20, 120)],
}
"""In a box of side 1, y down. Where there are several ways to write a digit, the one in the data set `digits`."""


def placed(digit: int, left: float, top: float, width: float, height: float) -> list[Points]:
    """Return the strokes of a digit in a box."""
    return [stroke * (width, height) + (left, top) for stroke in DIGITS[digit]]


def drawn(strokes: list[Points], pen: float, side: int = 112) -> NDArray[np.float64]:
    """Return a pad with strokes of a round pen: 1 where there is ink, 0 elsewhere, between at the edges."""
    # Points along the strokes, closer together than pixels are.
    dots = [
        a + share * (b - a)
        for stroke in strokes
        for a, b in pairwise(stroke)
        for share in np.linspace(0, 1, 2 + int(4 * np.linalg.norm(b - a)))
    ]
    rows, columns = np.mgrid[:side, :side] + 0.5
    spots = np.stack([columns, rows], -1).reshape(-1, 2)
    distance, _ = KDTree(dots).query(spots, distance_upper_bound=pen)
    return np.clip(pen / 2 - distance + 0.5, 0, 1).reshape(side, side)
