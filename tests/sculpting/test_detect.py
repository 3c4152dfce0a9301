"""Modules of whole networks: the published ones, and what must hold for any."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor, nn

from dovetail.errors import ShapeError, SpecError
from dovetail.sculpting.modules.detect import detect_modules
from dovetail.sculpting.modules.hierarchy import Hierarchy, Unit
from dovetail.sculpting.settings import Linkage

SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples" / "sculpted_networks.jsonl.gz"

HALVES = np.kron(np.eye(2), np.ones((2, 2)))


def _groups(members: Sequence[Any], labels: Sequence[int]) -> set[frozenset[Any]]:
    return {
        frozenset(member for member, other in zip(members, labels, strict=True) if other == label)
        for label in labels
    }


# ---- the published networks ----


@pytest.mark.skipif(not SAMPLES.exists(), reason=f"needs {SAMPLES}")
def test_published_networks_give_the_published_clusters_and_modules() -> None:
    with gzip.open(SAMPLES, "rt") as lines:
        samples = [json.loads(line) for line in lines]
    assert len(samples) == 119
    differing = []
    for sample in samples:
        found = detect_modules(
            sample["masks"],
            modularity_threshold=sample["modularity_threshold"],
            merge_threshold=sample["merge_threshold"],
        )
        kept = sample["kept_units"]
        clusters = [
            _groups(units, labels) for units, labels in zip(kept, sample["layer_clusters"], strict=True)
        ]
        units = [(layer, unit) for layer, numbers in enumerate(kept) for unit in numbers]
        modules = _groups(units, [label for labels in sample["modules"] for label in labels])
        if [set(layer) for layer in found.layers] != clusters or set(found.modules) != modules:
            differing.append((sample["task"], sample["arch"], sample["seed"]))
        assert not any(clustering.tied for clustering in found.clusterings)
    assert differing == []


# ---- what must hold for any network ----


@st.composite
def networks(draw: st.DrawFn) -> list[NDArray[np.bool_]]:
    sizes = draw(st.lists(st.integers(1, 7), min_size=2, max_size=5))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    density = draw(st.floats(0.1, 0.9))
    return [chance.random((after, before)) < density for before, after in pairwise(sizes)]


def _everything(found: Hierarchy) -> list[Unit]:
    return [(layer, unit) for layer, size in enumerate(found.sizes) for unit in range(size)]


@given(networks(), st.integers(0, 2**32))
def test_how_hidden_units_are_numbered_makes_no_difference(masks: list[NDArray[np.bool_]], seed: int) -> None:
    found = detect_modules(masks)
    chance = np.random.default_rng(seed)
    shuffles = [
        np.arange(size) if layer in (0, len(masks)) else chance.permutation(size)
        for layer, size in enumerate(found.sizes)
    ]
    shuffled = detect_modules(
        [mask[np.ix_(after, before)] for mask, (before, after) in zip(masks, pairwise(shuffles), strict=True)]
    )

    def renamed(units: Iterable[Unit]) -> frozenset[Unit]:
        return frozenset((layer, int(shuffles[layer][unit])) for layer, unit in units)

    assert [c.tied for c in shuffled.clusterings] == [c.tied for c in found.clusterings]
    assert renamed(shuffled.unused) == found.unused
    for layer, (clusters, others) in enumerate(zip(found.layers, shuffled.layers, strict=True)):
        if not found.clusterings[layer].tied:
            assert {frozenset(shuffles[layer][list(cluster)].tolist()) for cluster in others} == set(clusters)
    if not any(clustering.tied for clustering in found.clusterings):
        assert {renamed(module) for module in shuffled.modules} == set(found.modules)


@given(networks(), st.integers(0, 2**32))
def test_how_large_weights_are_makes_no_difference(masks: list[NDArray[np.bool_]], seed: int) -> None:
    chance = np.random.default_rng(seed)
    weights = [mask * chance.choice([-1e-6, -1, 1e-6, 1, 1e6], mask.shape) for mask in masks]
    assert detect_modules(weights) == detect_modules(masks)


@given(networks())
def test_every_unit_is_in_one_module_or_unused(masks: list[NDArray[np.bool_]]) -> None:
    found = detect_modules(masks)
    held = [unit for module in found.modules for unit in module]
    assert sorted([*held, *found.unused]) == _everything(found)
    clusters = [
        frozenset((layer, unit) for unit in cluster)
        for layer, clusters in enumerate(found.layers)
        for cluster in clusters
    ]
    assert sorted(unit for cluster in clusters for unit in cluster) == sorted(held)
    assert all(any(cluster <= module for module in found.modules) for cluster in clusters)
    assert list(found.modules) == sorted(found.modules, key=min)
    assert [clustering.chosen for clustering in found.clusterings] == list(map(len, found.layers))


@given(networks())
def test_clusters_that_feed_only_each_other_are_merged_and_no_others(masks: list[NDArray[np.bool_]]) -> None:
    found = detect_modules(masks, merge_threshold=0.5)
    module_of = {unit: number for number, module in enumerate(found.modules) for unit in module}
    gone = found.unused
    for layer, mask in enumerate(masks):
        edges = [
            (i, j)
            for j, i in np.argwhere(mask).tolist()
            if (layer, i) not in gone and (layer + 1, j) not in gone
        ]
        for start in found.layers[layer]:
            for end in found.layers[layer + 1]:
                between = sum(i in start and j in end for i, j in edges)
                inward = between / sum(j in end for _, j in edges) > 0.5
                outward = between / sum(i in start for i, _ in edges) > 0.5
                if inward and (outward or layer == len(masks) - 1):
                    assert module_of[layer, min(start)] == module_of[layer + 1, min(end)]
                elif len(masks) == 1:
                    assert module_of[layer, min(start)] != module_of[layer + 1, min(end)]


# ---- small networks whose answer is plain ----


def test_two_separate_halves() -> None:
    found = detect_modules([HALVES, HALVES, HALVES])
    assert set(found.modules) == {
        frozenset((layer, unit) for layer in range(4) for unit in units) for units in ((0, 1), (2, 3))
    }
    assert found.layers[3] == tuple(frozenset({unit}) for unit in range(4))


def test_one_unit_in_every_layer() -> None:
    found = detect_modules([[[1.0]], [[-2.0]], [[0.5]]])
    assert found.modules == (frozenset({(0, 0), (1, 0), (2, 0), (3, 0)}),)
    assert not found.unused


def test_no_edge_at_all() -> None:
    found = detect_modules([np.zeros((3, 2)), np.zeros((2, 3))])
    assert (found.layers, found.modules) == (((), (), ()), ())
    assert sorted(found.unused) == _everything(found)
    assert [clustering.chosen for clustering in found.clusterings] == [0, 0, 0]


def test_a_layer_in_which_nothing_survives() -> None:
    found = detect_modules([np.ones((3, 2)), np.eye(3)[[1, 2, 0]] * [[0], [0], [0]], np.ones((2, 3))])
    assert sorted(found.unused) == _everything(found)
    assert found.modules == ()


def test_a_constant_output_and_an_input_that_does_not_matter() -> None:
    found = detect_modules([[[1, 1, 0], [0, 0, 0]], [[1, 0], [0, 1]]])
    assert found.unused == {(0, 2), (1, 1), (2, 1)}
    assert found.modules == (frozenset({(0, 0), (0, 1), (1, 0), (2, 0)}),)


def test_without_hidden_layers() -> None:
    found = detect_modules([HALVES])
    assert set(found.modules) == {
        frozenset((layer, unit) for layer in range(2) for unit in units) for units in ((0, 1), (2, 3))
    }


def test_a_module_and_weights_give_the_same() -> None:
    network = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.Sigmoid())
    for layer in (network[0], network[2]):
        layer.weight.data = torch.tensor(HALVES, dtype=torch.float32)
    assert detect_modules(network) == detect_modules([HALVES, HALVES])


def test_merging_needs_more_than_the_threshold() -> None:
    # Nine of the ten edges into the first output come from one cluster.
    fan = np.zeros((2, 11), bool)
    fan[0, :10] = fan[1, 9:] = True
    for threshold, merged in ((0.89, True), (0.9, False)):
        found = detect_modules([fan], merge_threshold=threshold)
        assert found.layers[0] == (frozenset(range(9)), frozenset({9}), frozenset({10}))
        assert (frozenset({(1, 0)}) not in found.modules) == merged


@pytest.mark.parametrize("linkage", ["average", "single", "complete", "ward"])
def test_other_methods_reach_the_clustering(linkage: Linkage) -> None:
    found = detect_modules([HALVES, HALVES], linkage=linkage, distance="euclidean", score="silhouette")
    assert len(found.modules) == 2
    assert found.clusterings[0].metric[2] == 1.0  # a silhouette, not a modularity metric


class DefinedBackwards(nn.Module):
    """Layers of one size, the last defined first."""

    def __init__(self, matrices: Sequence[NDArray[Any]]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in matrices)
        for layer, matrix in zip(reversed(self.layers), matrices, strict=True):
            assert isinstance(layer, nn.Linear)
            layer.weight.data = torch.tensor(matrix, dtype=torch.float32)

    def forward(self, x: Tensor) -> Tensor:
        for layer in reversed(self.layers):
            x = layer(x).relu()
        return x


def test_layers_are_read_in_the_order_of_their_use() -> None:
    matrices = [HALVES, np.eye(4), np.triu(np.ones((4, 4)))]
    found = detect_modules(DefinedBackwards(matrices))
    assert found == detect_modules(matrices)
    assert found != detect_modules(matrices[::-1])


def test_what_was_found_shares_no_memory_with_the_network() -> None:
    mask = np.ones((2, 2), bool)
    (edges,) = detect_modules([mask]).connections
    mask[:] = False
    assert edges.all()
    with pytest.raises(ValueError, match="read-only"):
        edges[0, 0] = False


def test_wrong_options_are_refused() -> None:
    with pytest.raises(SpecError, match="linkage 'ward' needs the distance 'euclidean', not 'cosine'"):
        detect_modules([HALVES], linkage="ward")
    with pytest.raises(SpecError, match="unknown score 'modularty'; did you mean 'modularity'"):
        detect_modules([HALVES], score="modularty")  # type: ignore[arg-type]
    for threshold in (1.0, -0.1):
        with pytest.raises(SpecError, match=f"from 0 to below 1, not {threshold}"):
            detect_modules([HALVES], merge_threshold=threshold)
    with pytest.raises(SpecError, match="merge_threshold must be a number, not 'most'"):
        detect_modules([HALVES], merge_threshold="most")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="layer2 is 3 x 3"):
        detect_modules([HALVES, np.eye(3)])


def test_two_halves_of_the_size_of_two_images() -> None:
    chance = np.random.default_rng(0)
    sizes = (1568, 300, 300, 20)
    blocks = [np.kron(np.eye(2), np.ones((after // 2, before // 2))) for before, after in pairwise(sizes)]
    masks = [(block * chance.random(block.shape)) > 0.95 for block in blocks]
    found = detect_modules(masks, modularity_threshold=-0.3, merge_threshold=0.6)
    assert len(found.layers[0]) == 2
    assert not found.clusterings[0].tied
