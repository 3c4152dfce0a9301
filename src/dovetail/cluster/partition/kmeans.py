"""K-means from many starts at once; starts that fall behind are given up early."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Points: TypeAlias = NDArray[np.floating]
Labels: TypeAlias = NDArray[np.int64]

_ROUNDS = ((20, 5), (8, 10), (4, 300))
"""How many of the best starts go on, and for how many steps: most of what full runs of all would do is never the best.

The last number is the most steps that scikit-learn takes, too.
"""

_SMALL = 300_000
"""Distances from points to centres, of all starts, up to which all starts are run to the end: it takes milliseconds."""


_FAR_OUT = 1e3
"""With points this many times farther out than half of all, single precision would not do."""


def kmeans(points: NDArray[np.floating], k: int, starts: int, rng: np.random.Generator) -> Labels:
    """Return the best of several clusterings of points ``[points, dimensions]`` into k groups.

    Starts are drawn by greedy k-means++, as in scikit-learn. All starts take their steps together as matrix products.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]])
    >>> labels = kmeans(points, 2, starts=3, rng=np.random.default_rng(0))
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    values = np.asarray(points, dtype=np.float64)
    # At the median, and on the scale of most points: a few far out must not blur all others.
    values = values - np.median(values, axis=0)
    sizes = np.abs(values).max(1)
    scale = float(np.median(sizes)) or float(sizes.max()) or 1.0
    far_out = bool(sizes.max() > _FAR_OUT * scale)
    x: Points = np.ascontiguousarray((values / scale).T).astype(np.float64 if far_out else np.float32)
    centres, inertia = _draw(x, k, starts, rng)
    rounds = _ROUNDS if x.shape[1] * k * starts > _SMALL else ((starts, 300),)
    for left, steps in rounds:
        if left < centres.shape[1]:
            centres = np.ascontiguousarray(centres[:, np.argsort(inertia, kind="stable")[:left]])
        centres, inertia = _move(x, centres, steps)
    best = centres[:, int(inertia.argmin())]
    labels: Labels = (0.5 * (best**2).sum(1, keepdims=True) - best @ x).argmin(0)
    return labels


def _draw(x: Points, k: int, starts: int, rng: np.random.Generator) -> tuple[Points, NDArray[np.floating]]:
    """Draw centres ``[k, starts, dimensions]``, each from points far from those before, the best of a few tries.

    Returns centres and inertias ``[starts]``.
    """
    count = x.shape[1]
    tries = 2 + int(np.log(k))
    squares = (x * x).sum(0)
    ones = np.ones(count, dtype=x.dtype)
    # One product gives squared distances: |a|² - 2 a b + |b|².
    from_points = np.concatenate([-2 * x, [ones, squares]])
    to_points = np.concatenate([x, [squares, ones]])
    chosen = rng.integers(count, size=starts)
    centres = np.empty((k, starts, len(x)), dtype=x.dtype)
    centres[0] = x[:, chosen].T
    # Of each point to the nearest centre so far, [starts, points].
    distance = np.maximum(from_points[:, chosen].T @ to_points, 0)
    rows = np.arange(starts)
    sums = np.empty((starts, count))
    flat = np.empty((starts * tries, count), dtype=x.dtype)
    candidates = flat.reshape(starts, tries, count)
    for place in range(1, k):
        np.cumsum(distance, axis=1, out=sums)
        at = rng.random((starts, tries)) * sums[:, -1:]
        # One search for all rows: each row's sums are moved into a range of their own.
        offset = np.concatenate([[0.0], np.cumsum(sums[:, -1])])[:-1, None]
        sums += offset
        picked = np.searchsorted(sums.ravel(), (at + offset).ravel()) - np.repeat(rows * count, tries)
        picked = np.clip(picked, 0, count - 1)
        np.matmul(from_points[:, picked].T, to_points, out=flat)
        flat[np.arange(len(picked)), picked] = 0  # far out, rounding would leave much of a distance
        np.minimum(candidates, distance[:, None], out=candidates)
        best = (flat @ ones).reshape(starts, tries).argmin(1)
        np.take(flat, rows * tries + best, axis=0, out=distance)
        np.maximum(distance, 0, out=distance)  # what rounding left below 0
        centres[place] = x[:, picked.reshape(starts, tries)[rows, best]].T
    return centres, distance.sum(1)


def _move(x: Points, centres: Points, steps: int) -> tuple[Points, NDArray[np.floating]]:
    """Move centres to the means of their points until nothing changes or the steps are used up.

    Returns centres and inertias ``[starts]``, those before the last move.
    """
    k, starts, dimensions = centres.shape
    count = x.shape[1]
    with_ones = np.concatenate([x, np.ones((1, count), dtype=x.dtype)])
    squares = float((x.astype(np.float64) ** 2).sum())
    before = np.full(starts, np.inf)
    # Written again in every step: new arrays of this size would take longer than what is computed in them.
    scores, member = (np.empty((k, starts, count), dtype=x.dtype) for _ in range(2))
    nearest, lowest = np.empty((k, starts, count), dtype=bool), np.empty((starts, count), dtype=x.dtype)
    while True:
        # Half of |x - c|², less the part that is the same for all centres: |c|² / 2 - x c.
        lifted = np.concatenate([-centres, 0.5 * (centres**2).sum(2, keepdims=True)], axis=2)
        np.matmul(lifted.reshape(k * starts, -1), with_ones, out=scores.reshape(k * starts, count))
        np.min(scores, axis=0, out=lowest)
        inertia = squares + 2 * lowest.sum(1, dtype=np.float64)
        if x.dtype == np.float64:  # points far out, whose squares would drown all others
            inertia = _inertia(x, centres, scores.argmin(0))
        if bool((inertia >= before * (1 - 1e-6)).all()):
            return centres, inertia
        np.equal(scores, lowest, out=nearest)
        np.copyto(member, nearest)
        sums = (member.reshape(k * starts, count) @ with_ones.T).reshape(k, starts, dimensions + 1)
        sizes = sums[..., -1:]
        moved = sums[..., :-1] / np.maximum(sizes, 1)
        empty = sizes[..., 0] == 0
        if empty.any():
            _fill(x, moved, empty, lowest)
        centres, before = moved, inertia
        steps -= 1
        if not steps:
            return centres, inertia


def _inertia(x: Points, centres: Points, nearest: Labels) -> NDArray[np.float64]:
    """Return the sum of squared distances of points to their centres, for each start, by differences."""
    starts = np.arange(centres.shape[1])[:, None]
    total: NDArray[np.float64] = ((x.T - centres[nearest, starts]) ** 2).sum((1, 2))
    return total


def _fill(x: Points, centres: Points, empty: NDArray[np.bool_], lowest: Points) -> None:
    """Put centres that lost all points on the points that are farthest from theirs."""
    away = 2 * lowest + (x * x).sum(0)
    for start in np.flatnonzero(empty.any(0)):
        places = np.flatnonzero(empty[:, start])
        farthest = np.argsort(-away[start], kind="stable")[: len(places)]
        centres[places, start] = x[:, farthest].T
