"""Agglomerative clustering of a layer's units, the number of clusters chosen by a score and two tests."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pydantic import FiniteFloat, NonNegativeInt
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from ..settings import DetectionSettings, Score
from .quality import Distances, Labels, best_count, cut, modularity, scores_by_count
from .reach import Features


@dataclass(frozen=True)
class LayerClustering:
    """How the units of one layer were put into clusters.

    Attributes
    ----------
    metric : dict of int to float
        The score of every number of clusters that was tried.
    chosen : int
        The number of clusters in the end.
    best : int or None
        The number with the best score, before the separability tests; None when none was tried.
    tests : tuple of SeparabilityTest
        The tests that were run, and what they said; empty when none was.
    tied : bool
        Whether distances were equal where it mattered, so that the numbering of units may have decided. In layers
        with very many equal distances this was tried with a few other orders, not with all.
    score : str
        What `metric` holds: the modularity metric, where less is better, or another of `detect_modules`.
    """

    metric: dict[NonNegativeInt, FiniteFloat]
    chosen: int
    best: int | None = None
    tests: tuple[SeparabilityTest, ...] = ()
    tied: bool = False
    score: Score = "modularity"


@dataclass(frozen=True)
class SeparabilityTest:
    """One of the two tests for the ends of the scale: every unit apart, or all together.

    Attributes
    ----------
    kind : {"separate", "single"}
        What it tests for.
    positive : bool
        Whether it found that.
    shared, expected : float
        Later units that the two units, or sets of units, both reach, and how many chance would give.
    score : float
        By how much, in standard deviations of chance (not divided where that is 0).
    """

    kind: Literal["separate", "single"]
    positive: bool
    shared: FiniteFloat
    expected: FiniteFloat
    score: FiniteFloat


def agglomerate(
    features: Features, distances: Distances, method: DetectionSettings
) -> tuple[Labels, LayerClustering]:
    """Cluster two or more units; of clusters that are equally near, the order of the units decides.

    Parameters
    ----------
    features : bool array
        Which later units each unit reaches, ``[units, later units]``.
    distances : array
        Between any two units.
    method : DetectionSettings
        How to join and judge.

    Returns
    -------
    labels : array of int
        The cluster of each unit.
    clustering : LayerClustering
        How it came about.

    Examples
    --------
    >>> import numpy as np
    >>> from dovetail.sculpting.modules.quality import unit_distances
    >>> features = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)
    >>> labels, clustering = agglomerate(features, unit_distances(features), DetectionSettings())
    >>> labels.tolist(), clustering.best, [test.kind for test in clustering.tests if test.positive]
    ([0, 1, 2], 2, ['separate'])
    """
    units = len(features)
    tree = linkage(squareform(distances, checks=False), method.linkage)
    values = scores_by_count(features, distances, tree, method.score)
    best = best_count(values, method.score)
    if best is None:  # two units: the tests have to say, and always do
        one, other = features
        tests = separability_tests((one, other), (one, other))
        chosen = decide(*tests, count=2, units=2)
        return cut(tree, chosen), LayerClustering(values, chosen, best, tests, score=method.score)
    labels = cut(tree, best)
    metric = values[best] if method.score == "modularity" else modularity(distances, labels)
    if not needs_tests(best, metric, units, method):
        return labels, LayerClustering(values, best, best, score=method.score)
    tests = separability_tests(features[tree[0, :2].astype(int)], reached_by_two(features, cut(tree, 2)))
    chosen = decide(*tests, count=best, units=units)
    return cut(tree, chosen), LayerClustering(values, chosen, best, tests, score=method.score)


def needs_tests(best: int, metric: float, units: int, method: DetectionSettings) -> bool:
    """Return whether the best clustering is next to an end of the scale, or hardly better than chance."""
    return best in (2, units - 1) or metric > method.modularity_threshold


def reached_by_two(features: Features, labels: Labels) -> tuple[Features, Features]:
    """Return which later units any unit of each of two clusters reaches."""
    first = labels == labels[0]
    return features[first].any(0), features[~first].any(0)


def separability_tests(
    first: Iterable[Features], last: Iterable[Features]
) -> tuple[SeparabilityTest, SeparabilityTest]:
    """Return the tests for all apart and for all together.

    Parameters
    ----------
    first : two bool arrays
        Which later units the two units reach that are joined first.
    last : two bool arrays
        Which later units are reached by any unit of the two clusters that are joined last.
    """
    return separability_test("separate", *first), separability_test("single", *last)


def separability_test(
    kind: Literal["separate", "single"], one: Features, other: Features
) -> SeparabilityTest:
    """Test whether two units, or two sets of units, share fewer later units than chance would give.

    Parameters
    ----------
    kind : {"separate", "single"}
        "separate" finds that they share fewer, "single" that they do not.
    one, other : bool array
        Which later units each reaches, ``[later units]``.

    Examples
    --------
    >>> import numpy as np
    >>> one, other = np.array([1, 1, 0, 0], dtype=bool), np.array([0, 0, 1, 1], dtype=bool)
    >>> separability_test("separate", one, other)
    SeparabilityTest(kind='separate', positive=True, shared=0.0, expected=1.0, score=1.1547005383792515)
    >>> separability_test("single", one, one).positive
    True
    """
    later, shared, product = len(one), int((one & other).sum()), int(one.sum()) * int(other.sum())
    # Chance is a binomial: `later` trials of probability product / later**2. Compared in whole numbers.
    surplus = shared * later - product
    spread = product * (later**2 - product)
    score = math.sqrt(later * surplus**2 / spread) if spread else abs(surplus) / later
    positive = surplus < 0 if kind == "separate" else surplus >= 0
    return SeparabilityTest(
        kind, positive, float(shared), product / later, score if positive else 0.0 - score
    )


def decide(separate: SeparabilityTest, single: SeparabilityTest, *, count: int, units: int) -> int:
    """Return the number of clusters after the tests: 1, all apart, or ``count`` where neither found anything.

    Examples
    --------
    >>> separate = SeparabilityTest("separate", True, shared=0, expected=1, score=1.2)
    >>> single = SeparabilityTest("single", True, shared=3, expected=2, score=0.9)
    >>> decide(separate, single, count=2, units=5)
    5
    """
    if single.positive and (not separate.positive or single.score >= separate.score):
        return 1
    return units if separate.positive else count
