"""K-means from many starts, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from dovetail.cluster.partition.kmeans import _draw, _move, _pick, kmeans


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


@pytest.mark.parametrize("places", [64, 192])
def test_places_are_drawn_by_their_chances(places: int) -> None:
    """As often as the sums of whole rows would draw them, and never where there is no chance."""
    rng = np.random.default_rng(11)
    chances = rng.random((3, places)).astype(np.float32) ** 4
    chances[:, rng.random(places) < 0.4] = 0
    chances[1, :64] = 0
    if places == 64:
        chances[1, 7] = 1
    draws = rng.random((3, 4000))
    picked = _pick(chances, draws)
    until = chances.cumsum(1, dtype=np.float64)
    plain = np.stack([np.searchsorted(u, d * u[-1], side="right") for u, d in zip(until, draws, strict=True)])
    assert (picked == plain).mean() > 0.999  # sums are rounded differently
    assert (np.take_along_axis(chances, picked, axis=1) > 0).all()


def test_the_first_draw_and_the_last_are_places_with_a_chance() -> None:
    chances = np.zeros((1, 128))
    chances[0, [70, 90]] = 1
    assert _pick(chances, np.array([[0.0, 0.5, np.nextafter(1, 0)]])).tolist() == [[70, 90, 90]]


def test_a_start_ends_where_it_would_end_alone() -> None:
    x = np.ascontiguousarray(points(500, 6, 1.0, seed=6).T, dtype=np.float32)
    centres, _ = _draw(x, 5, 8, np.random.default_rng(0))
    together, inertias = _move(x, centres, 300)
    for start in range(8):
        alone, inertia_alone = _move(x, centres[:, start : start + 1], 300)
        np.testing.assert_allclose(together[:, start], alone[:, 0], atol=1e-4)
        assert inertias[start] == pytest.approx(inertia_alone[0], rel=1e-5)


def test_a_dimension_in_which_all_are_alike_changes_nothing() -> None:
    x = points(300, 4, 1.0, seed=8)
    with_one_more = np.concatenate([x, np.full((300, 1), 0.3) + 1e-9 * x[:, :1]], axis=1)
    labels, others = (kmeans(y, 5, 6, np.random.default_rng(1)) for y in (x, with_one_more))
    assert (labels == others).all()
