"""K-means from many starts at once; starts that fall behind are given up early."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Points: TypeAlias = NDArray[np.float32]
Labels: TypeAlias = NDArray[np.int64]

_ROUNDS = ((6, 10), (12, 4))
"""After so many steps, so many of the starts go on: most of what 25 full runs would do is never the best of them."""

_STEPS = 300
"""The most steps for those that go on to the end, as in scikit-learn."""


class Found(NamedTuple):
    """The best clustering: each point's cluster, and the sum of squared distances to the clusters' means."""

    labels: Labels
    inertia: float


def kmeans(points: NDArray[np.floating], k: int, starts: int, rng: np.random.Generator) -> Found:
    """Return the best of several clusterings of points ``[points, dimensions]`` into k groups.

    Starts are drawn by greedy k-means++, as in scikit-learn. All starts take their steps together as matrix products.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]])
    >>> found = kmeans(points, 2, starts=3, rng=np.random.default_rng(0))
    >>> bool(found.labels[0] == found.labels[1] != found.labels[2] == found.labels[3]), round(found.inertia, 4)
    (True, 0.01)
    """
    values = np.asarray(points, dtype=np.float64)
    values = values - values.mean(0)
    scale = float(np.sqrt(np.mean(values**2))) or 1.0
    x = np.ascontiguousarray((values / scale).T, dtype=np.float32)  # [dimensions, points]
    centres = _draw(x, k, starts, rng)
    for steps, left in _ROUNDS:
        centres, inertia, _ = _move(x, centres, steps)
        if left < centres.shape[1]:
            centres = np.ascontiguousarray(centres[:, np.argsort(inertia, kind="stable")[:left]])
    centres, inertia, nearest = _move(x, centres, _STEPS)
    labels = nearest[:, int(inertia.argmin())].argmax(0)
    return Found(labels, _inertia(values, labels, k))


def _inertia(values: NDArray[np.float64], labels: Labels, k: int) -> float:
    member = (labels[:, None] == np.arange(k)).astype(np.float64)
    means = (member.T @ values) / np.maximum(member.sum(0), 1)[:, None]
    return float(((values - means[labels]) ** 2).sum())


def _draw(x: Points, k: int, starts: int, rng: np.random.Generator) -> Points:
    """Draw centres ``[k, starts, dimensions]``: each from points far from those before, the best of a few tries."""
    count = x.shape[1]
    tries = 2 + int(np.log(k))
    squares = (x * x).sum(0)
    chosen = rng.integers(count, size=starts)
    centres = np.empty((k, starts, len(x)), dtype=np.float32)
    centres[0] = x[:, chosen].T
    distance = _squared_distances(
        x, squares, chosen
    )  # of each point to the nearest centre so far, [starts, points]
    for place in range(1, k):
        sums = np.cumsum(distance, axis=1, dtype=np.float64)
        at = rng.random((starts, tries)) * sums[:, -1:]
        # One search for all rows: each row's sums are moved into a range of their own.
        offset = np.concatenate([[0.0], np.cumsum(sums[:, -1])])[:-1, None]
        picked = np.searchsorted((sums + offset).ravel(), (at + offset).ravel()) - np.repeat(
            np.arange(starts) * count, tries
        )
        picked = np.clip(picked, 0, count - 1)
        candidates = np.minimum(
            _squared_distances(x, squares, picked).reshape(starts, tries, count), distance[:, None]
        )
        best = candidates.sum(2).argmin(1)
        rows = np.arange(starts)
        distance = candidates[rows, best]
        centres[place] = x[:, picked.reshape(starts, tries)[rows, best]].T
    return centres


def _squared_distances(x: Points, squares: Points, chosen: NDArray[np.integer]) -> Points:
    """Return squared distances of all points to some of them, ``[chosen, points]``."""
    distance = x[:, chosen].T @ x
    distance *= -2
    distance += squares
    distance += squares[chosen][:, None]
    np.maximum(distance, 0, out=distance)
    return distance


def _move(x: Points, centres: Points, steps: int) -> tuple[Points, NDArray[np.float64], NDArray[np.bool_]]:
    """Move centres to the means of their points until nothing changes or the steps are used up.

    Returns centres, inertias ``[starts]`` and who belongs to whom, ``[k, starts, points]``.
    """
    k, starts, dimensions = centres.shape
    count = x.shape[1]
    with_ones = np.concatenate([x, np.ones((1, count), dtype=np.float32)]).T
    squares = float((x.astype(np.float64) ** 2).sum())
    before = np.full(starts, np.inf)
    while True:
        # Half of |x - c|², less the part that is the same for all centres.
        scores = centres.reshape(-1, dimensions) @ -x
        scores += 0.5 * (centres**2).sum(2).reshape(-1, 1)
        by_centre = scores.reshape(k, starts, count)
        lowest = by_centre.min(0)
        nearest = by_centre == lowest
        inertia = squares + 2 * lowest.sum(1, dtype=np.float64)
        steps -= 1
        if steps < 0 or bool((inertia >= before * (1 - 1e-6)).all()):
            return centres, inertia, nearest
        before = inertia
        sums = (nearest.reshape(-1, count).astype(np.float32) @ with_ones).reshape(k, starts, dimensions + 1)
        sizes = sums[..., -1:]
        moved = sums[..., :-1] / np.maximum(sizes, 1)
        empty = sizes[..., 0] == 0
        if empty.any():
            _fill(x, moved, empty, lowest)
        centres = moved


def _fill(x: Points, centres: Points, empty: NDArray[np.bool_], lowest: Points) -> None:
    """Put centres that lost all points on the points that are farthest from theirs."""
    away = 2 * lowest + (x * x).sum(0)
    for start in np.flatnonzero(empty.any(0)):
        places = np.flatnonzero(empty[:, start])
        farthest = np.argsort(-away[start], kind="stable")[: len(places)]
        centres[places, start] = x[:, farthest].T
