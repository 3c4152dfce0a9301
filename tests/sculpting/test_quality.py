"""Scores of clusterings, against the paper's equation written out and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn import metrics

from dovetail.sculpting.modules.quality import (
    best_count,
    cut,
    cuts,
    modularity,
    scores_by_count,
    unit_distances,
)
from dovetail.sculpting.settings import Distance, Linkage


def _features(seed: int, units: int = 9, later: int = 12, density: float = 0.4) -> NDArray[np.bool_]:
    chance = np.random.default_rng(seed)
    features = chance.random((units, later)) < density
    features[:, 0] |= ~features.any(1)
    return features


def _equation_2(distances: NDArray[np.float64], labels: NDArray[np.intp]) -> float:
    """Compute M = sum_i (A_ii - (sum_j A_ij)^2), with every A_ij summed over pairs of units."""
    share = distances / distances.sum()
    value = 0.0
    for i in set(labels.tolist()):
        row = 0.0
        for j in set(labels.tolist()):
            a_ij = 0.0
            for a in np.flatnonzero(labels == i):
                for b in np.flatnonzero(labels == j):
                    a_ij += share[a, b]
            row += a_ij
            if i == j:
                value += a_ij
        value -= row**2
    return value


@pytest.mark.parametrize("distance", ["cosine", "jaccard", "euclidean"])
def test_distances_are_scipys(distance: Distance) -> None:
    features = _features(0)
    assert np.allclose(unit_distances(features, distance), squareform(pdist(features, distance)))


def test_equal_features_are_at_distance_0_exactly() -> None:
    features = np.repeat(_features(1, later=700), 2, axis=0)
    for distance in ("cosine", "jaccard", "euclidean"):
        apart = unit_distances(features, distance)
        assert (apart[::2, 1::2].diagonal() == 0).all()
        assert (apart == apart.T).all()


@pytest.mark.parametrize("method", ["average", "single", "complete"])
@pytest.mark.parametrize("seed", range(4))
def test_modularity_is_equation_2_at_every_cut(method: Linkage, seed: int) -> None:
    features = _features(seed)
    distances = unit_distances(features)
    tree = linkage(squareform(distances), method)
    found = scores_by_count(features, distances, tree, "modularity")
    assert list(found) == list(range(2, 9))
    for count, value in found.items():
        labels = cut(tree, count)
        assert len(set(labels.tolist())) == count
        assert value == pytest.approx(_equation_2(distances, labels), abs=1e-8)
        assert value == modularity(distances, labels)


def test_modularity_without_any_distance_is_0() -> None:
    features = np.ones((4, 3), bool)
    distances = unit_distances(features)
    tree = linkage(squareform(distances), "average")
    assert scores_by_count(features, distances, tree, "modularity") == {2: 0.0, 3: 0.0}
    assert modularity(distances, cut(tree, 2)) == 0.0


def test_cuts_are_scipys() -> None:
    tree = linkage(squareform(unit_distances(_features(5))), "average")
    for count, labels in cuts(tree):
        theirs = cut_tree(tree, [count])[:, 0]
        assert np.array_equal(labels[:, None] == labels, theirs[:, None] == theirs)


def test_other_scores_are_scikit_learns() -> None:
    features = _features(6)
    distances = unit_distances(features)
    tree = linkage(squareform(distances), "average")
    labels = cut_tree(tree, [4])[:, 0]
    expected = {
        "silhouette": metrics.silhouette_score(distances, labels, metric="precomputed"),
        "calinski-harabasz": metrics.calinski_harabasz_score(features, labels),
        "davies-bouldin": metrics.davies_bouldin_score(features, labels),
    }
    for score, value in expected.items():
        found = scores_by_count(features, distances, tree, score)  # type: ignore[arg-type]
        assert list(found) == list(range(2, 9))
        assert found[4] == pytest.approx(value, abs=1e-8)


def test_best_count_knows_which_way_a_score_goes_and_takes_the_largest_of_equals() -> None:
    values = {2: 0.1, 3: 0.5, 4: 0.5, 5: 0.1}
    assert best_count(values, "modularity") == 5
    assert best_count(values, "davies-bouldin") == 5
    assert best_count(values, "silhouette") == 4
    assert best_count(values, "calinski-harabasz") == 4
    assert best_count({}, "modularity") is None
