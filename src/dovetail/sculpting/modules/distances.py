"""Distances between the units of a layer, by which later units they reach."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .method import Distance
from .reach import Features

Distances: TypeAlias = NDArray[np.float64]
"""Symmetric, with 0 on the diagonal, ``[units, units]``."""


def unit_distances(features: Features, distance: Distance = "cosine") -> Distances:
    """Return the distance between every two units.

    All three distances are computed from whole numbers (how many later units each reaches, and how many both),
    so that distances that are equal are equal in the last bit, in whatever order the units come.

    Examples
    --------
    >>> features = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]], dtype=bool)
    >>> unit_distances(features).tolist()
    [[0.0, 0.0, 0.5], [0.0, 0.0, 0.5], [0.5, 0.5, 0.0]]
    >>> unit_distances(features, "jaccard").round(2)[0].tolist()
    [0.0, 0.0, 0.67]
    """
    ones = features.astype(np.float32)
    both = (ones @ ones.T).astype(np.float64)
    one, other = both.diagonal()[:, None], both.diagonal()[None, :]
    if distance == "cosine":
        return 1 - both / np.sqrt(one * other)
    if distance == "jaccard":
        return 1 - both / (one + other - both)
    result: Distances = np.sqrt(one + other - 2 * both)
    return result
