"""Large graphs: their blocks give what the whole matrix would."""

from __future__ import annotations

import resource

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import dovetail as dt
from dovetail.cluster.doubts import doubts
from dovetail.cluster.partition.operator import Blocks, Precision, component_of
from dovetail.cluster.partition.spectrum import components_of, spectrum_of_blocks
from dovetail.graph.graph import Block, Group, NetworkGraph

from .graphs import dense_spectrum

WIDTHS = (300, 260, 220, 300, 140)


def graph_of(widths: tuple[int, ...], density: float, seed: int, *, skip: bool = True) -> NetworkGraph:
    """Return random layers, some blocks dense and some sparse, and a shortcut past one of them."""
    rng = np.random.default_rng(seed)
    begin = np.concatenate([[0], np.cumsum(widths)])
    at = [np.arange(begin[i], begin[i + 1]) for i in range(len(widths))]

    def weights(rows: int, columns: int, kept: float) -> NDArray[np.float64]:
        matrix: NDArray[np.float64] = np.abs(rng.normal(size=(rows, columns))) * (
            rng.random((rows, columns)) < kept
        )
        return matrix

    blocks = [
        Block(
            f"b{i}",
            at[i + 1],
            at[i],
            weights(widths[i + 1], widths[i], density if i % 2 else min(1, 9 * density)),
        )
        for i in range(len(widths) - 1)
    ]
    if skip:  # from every second node, which are no run
        ends = at[2][::2], at[0][1::3]
        blocks.append(Block("skip", *ends, weights(len(ends[0]), len(ends[1]), density)))
    return NetworkGraph(tuple(Group(f"g{i}", width) for i, width in enumerate(widths)), tuple(blocks))


@pytest.mark.parametrize(("precision", "off"), [(np.float64, 1e-9), (np.float32, 1e-6)])
@pytest.mark.parametrize("density", [0.02, 0.3])
def test_eigenvalues_are_those_of_a_dense_solver(precision: Precision, off: float, density: float) -> None:
    graph = graph_of(WIDTHS, density, 0)
    weights = [block.weights for block in graph.blocks]
    found = spectrum_of_blocks(graph, Blocks(graph), weights, 8, precision)
    assert found is not None
    expected, _ = dense_spectrum(graph.adjacency.toarray())
    np.testing.assert_allclose(found.values, expected[:8], atol=off)
    # Each vector solves L y = λ D y.
    degrees = graph.adjacency.sum(1)
    left = degrees[:, None] * found.vectors - graph.adjacency @ found.vectors
    right = degrees[:, None] * found.vectors * found.values
    assert np.abs(left - right).max() < 1e3 * off


def test_the_product_is_that_of_the_matrix() -> None:
    graph = graph_of(WIDTHS, 0.05, 1)
    weights = [block.weights for block in graph.blocks]
    blocks = Blocks(graph)
    np.testing.assert_allclose(blocks.degrees(weights), graph.adjacency.sum(1))
    x = np.random.default_rng(0).normal(size=len(graph))
    matrices = blocks.scaled(weights, np.ones(len(graph)), np.float64)
    assert {type(matrix) for matrix in matrices} == {np.ndarray, type(graph.adjacency)}
    np.testing.assert_allclose(blocks.apply(matrices, x), graph.adjacency @ x)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.02, 0.1, 0.4]))
def test_components_are_those_of_the_matrix(seed: int, density: float) -> None:
    graph = graph_of((6, 5, 7, 4), density / 9, seed)
    found = component_of(graph, [block.weights for block in graph.blocks])
    count, expected = components_of(graph.adjacency)
    assert found.max(initial=-1) + 1 == count
    np.testing.assert_array_equal(found < 0, expected < 0)
    pairs = np.unique(np.stack([found, expected]), axis=1)
    assert pairs.shape[1] == len(np.unique(found))  # the same parts, whatever their numbers


def test_parts_that_hang_by_a_thread_are_found_without_the_matrix() -> None:
    first, second = graph_of((8, 8), 1.0, 0, skip=False), graph_of((8, 8), 1.0, 1, skip=False)
    weights = np.zeros((16, 16))
    weights[:8, :8], weights[8:, 8:] = first.blocks[0].weights + 0.1, second.blocks[0].weights + 0.1
    weights[0, 8] = 1e-9
    graph = dt.network_graph([weights])
    said = doubts(graph, np.arange(32) // 8 % 2, np.zeros(32, dtype=np.int64), 2)
    assert any("would fall into 2 components" in doubt for doubt in said)
    weights[0, 8] = 1e-2
    graph = dt.network_graph([weights])
    said = doubts(graph, np.arange(32) // 8 % 2, np.zeros(32, dtype=np.int64), 2)
    assert not any("components" in doubt for doubt in said)


def test_an_audit_of_a_large_graph_is_that_of_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = np.kron(np.eye(4), np.ones((30, 30))) + 0.02
    rng = np.random.default_rng(0)
    matrices = [blocks * rng.uniform(0.5, 1.5, blocks.shape) for _ in range(3)]
    usual = dt.clusterability(matrices, k=4, shuffles=3, progress=False)
    monkeypatch.setattr("dovetail.cluster.partition.spectral.bipartite_of", lambda graph: None)
    monkeypatch.setattr("dovetail.cluster.partition.spectral.LARGE", 10)
    monkeypatch.setattr("dovetail.cluster.partition.spectrum._MOST", 10)
    monkeypatch.setattr("dovetail.cluster.audit._LARGE", 10)
    large = dt.clusterability(matrices, k=4, shuffles=3, progress=False)
    assert large.ncut == pytest.approx(usual.ncut, abs=1e-6)
    np.testing.assert_allclose(large.eigenvalues, usual.eigenvalues, atol=1e-6)
    np.testing.assert_allclose(large.null, usual.null, atol=0.02)
    assert dt.spectral_clusters(usual.graph, 4).tolist() == usual.labels.tolist()


@pytest.mark.slow
def test_a_graph_of_many_weights_takes_little_more_memory_than_they_do() -> None:
    graph = graph_of((1000,) * 20, 1.0, 0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = dt.clusterability(graph, 12, 1, stability=0, progress=False)
    assert (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    ) / 2**20 < 0.8  # GiB; its matrix would take 0.6
    assert np.isfinite(found.ncut)
