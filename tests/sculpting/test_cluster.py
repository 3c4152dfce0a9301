"""Clusters in one layer: the separability tests, the ends of the scale, and ties."""

from __future__ import annotations

from itertools import permutations, product
from math import isclose

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage as tree_of
from scipy.spatial.distance import squareform
from scipy.stats import binom

from dovetail.errors import SpecError
from dovetail.sculpting.modules.agglomerate import SeparabilityTest, decide, separability_test
from dovetail.sculpting.modules.detect import cluster_layer
from dovetail.sculpting.modules.quality import cuts, unit_distances
from dovetail.sculpting.modules.ties import alternatives
from dovetail.sculpting.settings import DetectionSettings, Linkage, Score

Features = NDArray[np.bool_]


def _features(text: str) -> Features:
    return np.array([[letter == "1" for letter in row] for row in text.split()])


def _partition(labels: NDArray[np.intp]) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}


@st.composite
def layers(draw: st.DrawFn, most: int = 6) -> Features:
    rows = draw(st.lists(st.integers(1, 2**5 - 1), min_size=1, max_size=most))
    return np.array([[row >> bit & 1 for bit in range(5)] for row in rows], dtype=bool)


# ---- the tests ----


@given(st.integers(1, 2**7 - 1), st.integers(1, 2**7 - 1))
def test_separability_is_measured_against_a_binomial(one: int, other: int) -> None:
    first, second = (np.array([number >> bit & 1 for bit in range(7)], dtype=bool) for number in (one, other))
    chance = binom(7, first.sum() * second.sum() / 49)
    separate, single = (separability_test(kind, first, second) for kind in ("separate", "single"))
    assert separate.shared == (first & second).sum()
    assert isclose(separate.expected, chance.mean(), abs_tol=1e-12)
    assert isclose(single.score, (single.shared - chance.mean()) / (chance.std() or 1), abs_tol=1e-9)
    assert separate.score == -single.score
    assert separate.positive != single.positive
    if abs(separate.shared - chance.mean()) > 1e-9:
        assert separate.positive == (separate.shared < chance.mean())


def test_as_many_shared_as_chance_gives_is_not_separable() -> None:
    # 1 shared, 3 * 3 / 9 expected: 0.333... * 3 must not decide.
    one, other = _features("111000000 001110000")
    test = separability_test("separate", one, other)
    assert (test.shared, test.expected, test.score, test.positive) == (1, 1, 0, False)
    assert separability_test("single", one, other).positive


@pytest.mark.parametrize(
    ("separate", "single", "count"),
    [(None, None, 3), (0.1, None, 5), (None, 0.1, 1), (0.1, 0.2, 1), (0.2, 0.1, 5), (0.2, 0.2, 1)],
)
def test_the_more_significant_test_decides_and_single_when_equal(
    separate: float | None, single: float | None, count: int
) -> None:
    tests = [
        SeparabilityTest("separate", separate is not None, 0, 0, -1 if separate is None else separate),
        SeparabilityTest("single", single is not None, 0, 0, -1 if single is None else single),
    ]
    assert decide(*tests, count=3, units=5) == count


# ---- a layer ----


def test_no_unit_and_one_unit() -> None:
    for units in (0, 1):
        labels, clustering = cluster_layer(np.ones((units, 3), bool), DetectionSettings())
        assert (labels.tolist(), clustering.chosen, clustering.metric, clustering.tests) == (
            [0] * units,
            units,
            {},
            (),
        )


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1100 0011", 2),
        ("1100 1100", 1),
        ("1111 1111", 1),
        ("1110 0111", 2),
        ("1100 0110", 1),
        ("1000 0111", 2),
    ],
)
def test_of_two_units_the_tests_decide(text: str, count: int) -> None:
    labels, clustering = cluster_layer(_features(text), DetectionSettings())
    assert len(set(labels.tolist())) == clustering.chosen == count
    assert clustering.best is None
    assert [test.kind for test in clustering.tests] == ["separate", "single"]


def test_units_that_all_reach_the_same_are_one_cluster() -> None:
    for score in ("modularity", "silhouette", "calinski-harabasz", "davies-bouldin"):
        labels, clustering = cluster_layer(np.ones((5, 4), bool), DetectionSettings(score=score))
        assert (set(labels.tolist()), clustering.chosen, clustering.best, clustering.tied) == (
            {0},
            1,
            4,
            False,
        )


def test_units_that_share_nothing_are_all_apart() -> None:
    labels, clustering = cluster_layer(np.eye(6, dtype=bool), DetectionSettings())
    assert sorted(labels.tolist()) == list(range(6))
    assert [test.positive for test in clustering.tests] == [True, False]
    assert not clustering.tied


def test_the_tests_run_next_to_the_ends_and_where_the_metric_is_weak() -> None:
    three_groups = np.kron(np.eye(3), np.ones((2, 4))).astype(bool)  # the best of 2..5 is 3
    labels, clustering = cluster_layer(three_groups, DetectionSettings())
    assert _partition(labels) == {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5})}
    assert (clustering.best, clustering.tests) == (3, ())
    metric = clustering.metric[3]
    assert cluster_layer(three_groups, DetectionSettings(modularity_threshold=metric))[1].tests == ()
    assert (
        len(cluster_layer(three_groups, DetectionSettings(modularity_threshold=metric - 1e-6))[1].tests) == 2
    )
    two_groups = np.kron(np.eye(2), np.ones((3, 4))).astype(bool)
    assert len(cluster_layer(two_groups, DetectionSettings())[1].tests) == 2


@pytest.mark.parametrize("score", ["modularity", "silhouette"])
@pytest.mark.parametrize(
    ("linkage", "distance"),
    [
        *product(("average", "single", "complete"), ("cosine", "jaccard", "euclidean")),
        ("ward", "euclidean"),
    ],
)
def test_every_method_finds_clear_groups(linkage: Linkage, distance: str, score: Score) -> None:
    groups = np.kron(np.eye(3), np.ones((4, 6))).astype(bool)
    groups[[0, 5, 10], [0, 7, 14]] = False
    labels, clustering = cluster_layer(
        groups,
        DetectionSettings(linkage=linkage, distance=distance, score=score),  # type: ignore[arg-type]
    )
    assert _partition(labels) == {frozenset(range(start, start + 4)) for start in (0, 4, 8)}
    assert clustering.score == score


def test_unknown_methods_are_refused_with_what_there_is() -> None:
    with pytest.raises(SpecError, match="unknown linkage 'averge'; did you mean 'average'"):
        DetectionSettings(linkage="averge")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'ward' needs the distance 'euclidean', not 'jaccard'"):
        DetectionSettings(linkage="ward", distance="jaccard")
    with pytest.raises(SpecError, match="modularity_threshold must be a number, not nan"):
        DetectionSettings(modularity_threshold=float("nan"))


# ---- ties ----


@given(layers())
def test_without_a_tie_the_order_of_units_makes_no_difference(features: Features) -> None:
    labels, clustering = cluster_layer(features, DetectionSettings())
    for order in list(permutations(range(len(features))))[:: max(1, len(features) ** 3 // 6)]:
        others, other = cluster_layer(features[list(order)], DetectionSettings())
        assert other.tied == clustering.tied
        if not clustering.tied:
            assert _partition(others[np.argsort(order)]) == _partition(labels)


@pytest.mark.parametrize("linkage", ["single", "complete", "ward"])
@given(features=layers())
def test_nor_with_other_linkages(linkage: Linkage, features: Features) -> None:
    method = DetectionSettings(linkage=linkage, distance="euclidean")
    labels, clustering = cluster_layer(features, method)
    others, _ = cluster_layer(features[::-1], method)
    assert clustering.tied or _partition(others[::-1]) == _partition(labels)


def test_a_tie_that_decides_is_told() -> None:
    # The second unit is as near to the first as to the third.
    features = _features("110000 011000 001100 000011 000011")
    labels, clustering = cluster_layer(features, DetectionSettings())
    others, _ = cluster_layer(features[::-1], DetectionSettings())
    assert clustering.tied
    assert _partition(labels) != _partition(others[::-1])


def test_ties_within_clear_groups_do_not_matter() -> None:
    groups = np.kron(np.eye(2), np.ones((4, 5))).astype(bool)
    groups[np.arange(8), [0, 1, 2, 3, 5, 6, 7, 8]] = False  # within a group all distances are equal
    labels, clustering = cluster_layer(groups, DetectionSettings())
    assert _partition(labels) == {frozenset(range(4)), frozenset(range(4, 8))}
    assert not clustering.tied


def test_many_ties_are_not_followed_but_tried() -> None:
    features = np.eye(20, dtype=bool)
    assert alternatives(unit_distances(features), np.ones(20, int), "average") is None
    assert not cluster_layer(features, DetectionSettings())[1].tied
    ring = np.eye(40, dtype=bool) | np.roll(np.eye(40, dtype=bool), 1, axis=1)
    assert cluster_layer(ring, DetectionSettings(modularity_threshold=0.0))[1].tied


@pytest.mark.parametrize("linkage", ["average", "single", "complete", "ward"])
def test_alternatives_include_all_that_some_order_gives(linkage: Linkage) -> None:
    features = _features("11000 01100 00110 00011 00011")
    distances = unit_distances(features, "euclidean")
    found: dict[int, set[frozenset[frozenset[int]]]] = {}
    for order in permutations(range(5)):
        tree = tree_of(squareform(distances[np.ix_(order, order)]), linkage)
        for count, labels in cuts(tree):
            found.setdefault(count, set()).add(frozenset(_partition(labels[np.argsort(order)])))
    kinds = [0, 1, 2, 3]
    ways = alternatives(distances[np.ix_(kinds, kinds)], np.array([1, 1, 1, 2]), linkage)
    assert ways is not None
    for count, clusterings in ways.items():
        ours = {frozenset(_partition(labels[[0, 1, 2, 3, 3]])) for labels in clusterings}
        assert found[count] <= ours


@pytest.mark.parametrize("linkage", ["average", "single", "complete", "ward"])
def test_without_ties_there_is_one_way(linkage: Linkage) -> None:
    points = np.random.default_rng(0).random((8, 3))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    ways = alternatives(distances, np.ones(8, int), linkage)
    assert ways is not None
    expected = {count: _partition(labels) for count, labels in cuts(tree_of(squareform(distances), linkage))}
    assert {count: list(map(_partition, found)) for count, found in ways.items()} == {
        count: [expected[count]] for count in range(2, 8)
    }
