"""K-means from many starts, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from dovetail.cluster.partition.kmeans import kmeans


def inertia(x: np.ndarray, labels: np.ndarray) -> float:
    return float(sum(((x[labels == label] - x[labels == label].mean(0)) ** 2).sum() for label in set(labels)))


def points(count: int, dimensions: int, spread: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(count, dimensions))
        + spread * rng.normal(size=(8, dimensions))[rng.integers(8, size=count)]
    )


def test_separate_groups_are_found_as_scikit_learn_finds_them() -> None:
    x = points(400, 5, 20.0, seed=1)
    labels = kmeans(x, 8, 25, np.random.default_rng(0))
    theirs = KMeans(8, n_init=25, random_state=0).fit(x)
    assert adjusted_rand_score(labels, theirs.labels_) == 1
    assert inertia(x, labels) == pytest.approx(theirs.inertia_, rel=1e-4)


@pytest.mark.parametrize("count", [600, 4000])  # run to the end; given up early
@pytest.mark.parametrize("seed", range(3))
def test_without_groups_it_is_nearly_as_good_as_scikit_learn(count: int, seed: int) -> None:
    x = points(count, 10, 0.0, seed)
    labels = kmeans(x, 10, 25, np.random.default_rng(seed))
    theirs = KMeans(10, n_init=25, random_state=seed).fit(x)
    assert inertia(x, labels) <= 1.02 * theirs.inertia_


@pytest.mark.parametrize("away", [1e3, 1e6, 1e9])
def test_one_point_far_out_does_not_hide_the_others(away: float) -> None:
    x = points(300, 3, 20.0, seed=4)
    x[0] = away
    labels = kmeans(x, 9, 25, np.random.default_rng(0))
    alone = kmeans(x[1:], 8, 25, np.random.default_rng(0))
    assert inertia(x, labels) == pytest.approx(inertia(x[1:], alone), rel=0.05)


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_every_point_has_a_cluster_and_none_is_empty(seed: int, k: int) -> None:
    labels = kmeans(points(30, 3, 1.0, seed), k, 4, np.random.default_rng(seed))
    assert set(labels) == set(range(k))


def test_centres_without_points_move_to_the_farthest_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    def far_away(x: np.ndarray, k: int, starts: int, rng: object) -> tuple[np.ndarray, np.ndarray]:
        """Only the first centre is near any point."""
        away = 1e3 * np.arange(k, dtype=np.float32)
        return np.broadcast_to(away[:, None, None], (k, starts, len(x))).copy(), np.zeros(starts)

    monkeypatch.setattr("dovetail.cluster.partition.kmeans._draw", far_away)
    x = np.concatenate([np.zeros((50, 2)), [[1.0, 0.0], [0.0, 1.0], [9.0, 9.0]]])
    labels = kmeans(x, 4, 1, np.random.default_rng(3))
    assert len(set(labels)) == 4
    assert inertia(x, labels) == pytest.approx(0, abs=1e-12)


def test_equal_points_do_no_harm() -> None:
    assert len(kmeans(np.ones((10, 3)), 3, 5, np.random.default_rng(0))) == 10


def test_the_same_seed_gives_the_same_clusters() -> None:
    x = points(200, 4, 0.5, seed=2)
    first, second = (kmeans(x, 6, 10, np.random.default_rng(5)) for _ in range(2))
    assert (first == second).all()
