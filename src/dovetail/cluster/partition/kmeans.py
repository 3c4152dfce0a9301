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


_BLOCK = 64
"""Points whose chances are added up together when one is drawn."""

_ALIKE = 1e-6
"""Spread of a dimension, relative to how far out half of all points are, below which it tells nothing apart."""


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
    values = values[:, np.ptp(values, axis=0) > _ALIKE * scale]
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
    # One product gives squared distances: |a|² - 2 a b + |b|². Those to the points that fill the last block are 0.
    from_points = np.concatenate([-2 * x, [np.ones(count, dtype=x.dtype), squares]])
    filled = -(-count // _BLOCK) * _BLOCK
    to_points = np.zeros((len(x) + 2, filled), dtype=x.dtype)
    to_points[:, :count] = np.concatenate([x, [squares, np.ones(count, dtype=x.dtype)]])
    ones = np.ones(filled, dtype=x.dtype)
    chosen = rng.integers(count, size=starts)
    centres = np.empty((k, starts, len(x)), dtype=x.dtype)
    centres[0] = x[:, chosen].T
    # Of each point to the nearest centre so far, [starts, points].
    distance = np.maximum(from_points[:, chosen].T @ to_points, 0)
    rows = np.arange(starts)
    flat = np.empty((starts * tries, filled), dtype=x.dtype)
    candidates = flat.reshape(starts, tries, filled)
    for place in range(1, k):
        picked = np.minimum(_pick(distance, rng.random((starts, tries))), count - 1).ravel()
        np.matmul(from_points[:, picked].T, to_points, out=flat)
        flat[np.arange(len(picked)), picked] = 0  # far out, rounding would leave much of a distance
        np.minimum(candidates, distance[:, None], out=candidates)
        best = (flat @ ones).reshape(starts, tries).argmin(1)
        np.take(flat, rows * tries + best, axis=0, out=distance)
        np.maximum(distance, 0, out=distance)  # what rounding left below 0
        centres[place] = x[:, picked.reshape(starts, tries)[rows, best]].T
    return centres, distance.sum(1)


def _pick(chances: NDArray[np.floating], draws: NDArray[np.float64]) -> Labels:
    """Return a place in each row for each of its draws from 0 to 1, by the chances in that row.

    The block is found by the sums of blocks, and the place within it by the sums in that block alone: to add up whole
    rows would take most of the time. Rows are some blocks long.
    """
    blocks = chances.reshape(len(chances), -1, _BLOCK)
    of_blocks = blocks @ np.ones(_BLOCK, dtype=chances.dtype)
    until = of_blocks.cumsum(1, dtype=np.float64)
    at = draws * until[:, -1:]
    # Those that end at or before it: blocks without any chance are passed over.
    block = np.minimum((until[:, None] <= at[..., None]).sum(2), until.shape[1] - 1)
    rows = np.arange(len(chances))[:, None]
    size = of_blocks[rows, block].astype(np.float64)
    share = 1 - (until[rows, block] - at) / np.where(size > 0, size, 1)
    within = blocks[rows, block].cumsum(2, dtype=np.float64)
    inside = (within <= (share * within[..., -1])[..., None]).sum(2)
    picked: Labels = block * _BLOCK + np.minimum(inside, _BLOCK - 1)
    return picked


def _move(x: Points, centres: Points, steps: int) -> tuple[Points, NDArray[np.floating]]:
    """Move centres to the means of their points until nothing changes or the steps are used up.

    Returns centres and inertias ``[starts]``, those before the last move. A start where nothing changes is left as it
    is while others go on.
    """
    k, starts, dimensions = centres.shape
    count = x.shape[1]
    with_ones = np.concatenate([x, np.ones((1, count), dtype=x.dtype)])
    squares = float((x.astype(np.float64) ** 2).sum())
    found, inertias = centres.copy(), np.empty(starts)
    going, before = np.arange(starts), np.full(starts, np.inf)
    # Written again in every step: new arrays of this size would take longer than what is computed in them.
    numbers, truths = (np.empty(k * starts * count, dtype=kind) for kind in (x.dtype, bool))
    while len(going):
        size = k * len(going) * count
        scores, nearest = (room[:size].reshape(k, -1, count) for room in (numbers, truths))
        # Half of |x - c|², less the part that is the same for all centres: |c|² / 2 - x c.
        lifted = np.concatenate([-centres, 0.5 * (centres**2).sum(2, keepdims=True)], axis=2)
        np.matmul(lifted.reshape(-1, dimensions + 1), with_ones, out=scores.reshape(-1, count))
        lowest = scores.min(0)
        inertia = squares + 2 * lowest.sum(1, dtype=np.float64)
        if x.dtype == np.float64:  # points far out, whose squares would drown all others
            inertia = _inertia(x, centres, scores.argmin(0))
        found[:, going], inertias[going] = centres, inertia
        still = inertia < before * (1 - 1e-6)
        if not still.any():
            break
        np.equal(scores, lowest, out=nearest)
        np.copyto(scores, nearest)
        sums = (scores.reshape(-1, count) @ with_ones.T).reshape(k, -1, dimensions + 1)
        sizes = sums[..., -1:]
        centres = sums[..., :-1] / np.maximum(sizes, 1)
        empty = sizes[..., 0] == 0
        if empty.any():
            _fill(x, centres, empty, lowest)
        going, before, centres = going[still], inertia[still], centres[:, still]
        steps -= 1
        if not steps:
            found[:, going] = centres
            break
    return found, inertias


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
