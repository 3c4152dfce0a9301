"""Depth: clusters that are only bands of layers are told from those that are more."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

import dovetail as dt
from dovetail.cluster.depth import WithinLayers, depth_share
from dovetail.cluster.partition.ncut import ncut

from .graphs import chain


def random_chain(seed: int, widths: tuple[int, ...] = (12, 10, 8, 10)) -> dt.NetworkGraph:
    rng = np.random.default_rng(seed)
    return chain([rng.random((after, before)) for before, after in pairwise(widths)])


def test_the_share_is_that_of_the_entropy() -> None:
    graph = random_chain(0)
    rng = np.random.default_rng(1)
    for _ in range(10):
        labels = rng.integers(0, 4, len(graph))
        entropy = mutual_info_score(labels, labels)
        assert depth_share(graph, labels) == pytest.approx(
            mutual_info_score(labels, graph.group_of) / entropy
        )
    assert depth_share(graph, graph.group_of // 2) == pytest.approx(1)
    assert np.isnan(depth_share(graph, np.zeros(len(graph), dtype=int)))


def test_what_is_gained_within_layers_is_what_permuted_clusters_lose() -> None:
    graph = random_chain(2, (40, 50, 60))
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, len(graph))
    own = ncut(graph, labels)
    permuted = []
    for _ in range(200):
        other = labels.copy()
        for group in range(len(graph.groups)):
            here = np.flatnonzero(graph.group_of == group)
            other[here] = rng.permutation(other[here])
        permuted.append(ncut(graph, other))
    gain = WithinLayers(graph, 3).gain([block.weights for block in graph.blocks], labels, own)
    assert gain == pytest.approx(np.mean(permuted) - own, abs=2e-3)


def test_nodes_without_cluster_and_groups_that_share_a_block_count_rightly() -> None:
    graph = random_chain(4)
    first = graph.blocks[0]
    joined = type(first)(
        "both", graph.blocks[2].outputs, np.r_[first.inputs, first.outputs], np.ones((10, 22))
    )
    graph = dt.NetworkGraph(graph.groups, (*graph.blocks, joined))
    weights = [block.weights for block in graph.blocks]
    # Bands: the clusters of a unit follow from its layer, so there is nothing to gain within.
    labels = np.array([0, 0, 1, 2])[graph.group_of]
    assert WithinLayers(graph, 3).gain(weights, labels, ncut(graph, labels)) == pytest.approx(0, abs=1e-12)


def test_bands_are_called_so_and_modules_are_not() -> None:
    rng = np.random.default_rng(0)
    # A narrow place between two wide pieces: the best cut goes through it.
    pieces = [np.abs(rng.normal(size=shape)) for shape in ((30, 30), (2, 30), (30, 2), (30, 30))]
    bands = dt.clusterability(pieces, k=2, shuffles=19, progress=False)
    assert bands.depth.share > 0.9
    assert any("bands of depth" in warning for warning in bands.warnings)
    assert "they are bands of depth" in bands.depth.text()
    blocks = np.kron(np.eye(3), np.ones((8, 8))) + 0.05 * rng.random((24, 24))
    modules = dt.clusterability([blocks, blocks, blocks], k=3, shuffles=19, progress=False)
    assert modules.depth.share < 0.1
    assert modules.depth.p_value == pytest.approx(0.05)
    assert modules.depth.gain > modules.depth.copies.max()
    assert not any("bands" in warning for warning in modules.warnings)
    assert modules.to_dict()["depth"]["p_value"] == pytest.approx(0.05)  # type: ignore[index]


def test_chance_has_no_depth_of_its_own() -> None:
    """Of networks without structure about one in twenty is below 5 %."""
    p_values = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        found = dt.clusterability(
            [rng.normal(size=(20, 20)) for _ in range(3)],
            k=3,
            shuffles=19,
            stability=0,
            progress=False,
            seed=seed,
        )
        p_values.append(found.depth.p_value)
    assert 0.3 < np.mean(p_values) < 0.75
    assert np.mean(np.array(p_values) <= 0.05) < 0.2
