"""K-means from many starts, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from dovetail.cluster.partition.kmeans import kmeans


def points(count: int, dimensions: int, spread: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(count, dimensions))
        + spread * rng.normal(size=(8, dimensions))[rng.integers(8, size=count)]
    )


def test_separate_groups_are_found_as_scikit_learn_finds_them() -> None:
    x = points(400, 5, 20.0, seed=1)
    found = kmeans(x, 8, 25, np.random.default_rng(0))
    theirs = KMeans(8, n_init=25, random_state=0).fit(x)
    assert adjusted_rand_score(found.labels, theirs.labels_) == 1
    assert found.inertia == pytest.approx(theirs.inertia_, rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_without_groups_it_is_nearly_as_good_as_scikit_learn(seed: int) -> None:
    x = points(600, 10, 0.0, seed)
    found = kmeans(x, 10, 25, np.random.default_rng(seed))
    theirs = KMeans(10, n_init=25, random_state=seed).fit(x)
    assert found.inertia <= 1.02 * theirs.inertia_


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_the_inertia_is_that_of_the_labels(seed: int, k: int) -> None:
    x = points(30, 3, 1.0, seed)
    found = kmeans(x, k, 4, np.random.default_rng(seed))
    assert found.labels.min() >= 0
    assert found.labels.max() < k
    means = [x[found.labels == label].mean(0) for label in range(k) if (found.labels == label).any()]
    inertia = sum(
        ((x[found.labels == label] - x[found.labels == label].mean(0)) ** 2).sum() for label in range(k)
    )
    assert len(means) >= 2
    assert found.inertia == pytest.approx(inertia, rel=1e-9)


def test_centres_without_points_move_to_the_farthest_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    def far_away(x: np.ndarray, k: int, starts: int, rng: object) -> tuple[np.ndarray, np.ndarray]:
        """Only the first centre is near any point."""
        away = 1e3 * np.arange(k, dtype=np.float32)
        return np.broadcast_to(away[:, None, None], (k, starts, len(x))).copy(), np.zeros(starts)

    monkeypatch.setattr("dovetail.cluster.partition.kmeans._draw", far_away)
    x = np.concatenate([np.zeros((50, 2)), [[1.0, 0.0], [0.0, 1.0], [9.0, 9.0]]])
    found = kmeans(x, 4, 1, np.random.default_rng(3))
    assert len(set(found.labels)) == 4
    assert found.inertia == pytest.approx(0, abs=1e-12)


def test_equal_points_do_no_harm() -> None:
    found = kmeans(np.ones((10, 3)), 3, 5, np.random.default_rng(0))
    assert found.inertia == pytest.approx(0, abs=1e-9)


def test_the_same_seed_gives_the_same_clusters() -> None:
    x = points(200, 4, 0.5, seed=2)
    first, second = (kmeans(x, 6, 10, np.random.default_rng(5)) for _ in range(2))
    assert (first.labels == second.labels).all()
