"""The n-cut against its definition."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import dovetail as dt
from dovetail.cluster.partition.ncut import ncut_of_blocks
from dovetail.errors import DataError, ShapeError

from .graphs import chain, dense_ncut, random_layers


@given(st.integers(0, 10_000), st.integers(2, 5))
def test_the_ncut_is_what_the_paper_defines(seed: int, k: int) -> None:
    graph = chain(random_layers([7, 5, 6], density=0.8, seed=seed))
    adjacency = graph.adjacency.toarray()
    kept = adjacency.sum(1) > 0
    labels = np.where(kept, np.random.default_rng(seed).integers(k, size=len(graph)), -1)
    expected = dense_ncut(adjacency[kept][:, kept], labels[kept].tolist())
    assert dt.ncut(graph, labels) == pytest.approx(expected, abs=1e-9)
    weights = [block.weights for block in graph.blocks]
    assert ncut_of_blocks(graph.blocks, weights, labels, k) == pytest.approx(expected, abs=1e-9)


def test_it_agrees_with_networkx() -> None:
    graph = nx.karate_club_graph()
    adjacency = nx.to_scipy_sparse_array(graph, dtype=np.dtype(float))
    clubs = np.array([graph.nodes[node]["club"] == "Officer" for node in graph]).astype(int)
    cut = nx.normalized_cut_size(graph, np.flatnonzero(clubs == 0).tolist(), weight="weight")
    assert dt.ncut(adjacency, clubs) == pytest.approx(cut)


def test_a_cut_between_parts_that_are_not_connected_costs_nothing() -> None:
    pairs = np.kron(np.eye(2), [[0, 1], [1, 0]])
    assert dt.ncut(pairs, [0, 0, 1, 1]) == 0
    assert dt.ncut(pairs, [0, 1, 0, 1]) == pytest.approx(2)


def test_a_node_that_is_left_out_takes_its_connections_along() -> None:
    graph = [[0, 1, 2], [1, 0, 0], [2, 0, 0]]
    assert dt.ncut(graph, [0, 1, -1]) == pytest.approx(2)


@pytest.mark.parametrize(
    ("graph", "labels", "error", "message"),
    [
        (np.ones((2, 3)), [0, 1], ShapeError, r"\(2, 3\) is no graph"),
        ([[0, 1], [2, 0]], [0, 1], DataError, "not symmetric"),
        ([[0, -1], [-1, 0]], [0, 1], DataError, "connection of -1"),
        ([[0, np.nan], [np.nan, 0]], [0, 1], DataError, "not finite"),
        ([[0, 1], [1, 0]], [0], ShapeError, "one for each node"),
        ([[0, 1], [1, 0]], [0.5, 1], DataError, "whole numbers"),
        ([[0, 1], [1, 0]], [-1, -1], DataError, "all labels are negative"),
        ("graph", [0], DataError, "no graph"),
        (nx.path_graph(2), [0, 1], DataError, "to_scipy_sparse_array"),
    ],
)
def test_what_is_no_graph_or_clustering_is_refused(
    graph: object, labels: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        dt.ncut(graph, labels)  # type: ignore[arg-type]


def test_any_sparse_format_is_taken() -> None:
    for kind in (sparse.coo_array, sparse.csc_array, sparse.lil_array):
        assert dt.ncut(kind(np.array([[0.0, 1], [1, 0]])), [0, 1]) == pytest.approx(2)
