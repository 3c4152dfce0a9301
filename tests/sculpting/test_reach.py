"""Paths through a network, against networkx."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail.sculpting.modules.reach import Edges, later_units, steady_orders, used_units


@st.composite
def networks(draw: st.DrawFn) -> list[Edges]:
    sizes = draw(st.lists(st.integers(1, 6), min_size=2, max_size=5))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    density = draw(st.floats(0.1, 1))
    return [chance.random((after, before)) < density for before, after in pairwise(sizes)]


def _graph(edges: list[Edges]) -> nx.DiGraph[tuple[int, int]]:
    graph: nx.DiGraph[tuple[int, int]] = nx.DiGraph()
    for layer, size in enumerate([edges[0].shape[1], *map(len, edges)]):
        graph.add_nodes_from((layer, unit) for unit in range(size))
    for layer, matrix in enumerate(edges):
        graph.add_edges_from(((layer, i), (layer + 1, j)) for j, i in np.argwhere(matrix).tolist())
    return graph


@given(networks())
def test_used_units_are_those_between_an_input_and_an_output(edges: list[Edges]) -> None:
    graph = _graph(edges)
    for layer, units in enumerate(used_units(edges)):
        expected = [
            unit
            for at, unit in graph
            if at == layer
            and any(start == 0 for start, _ in nx.ancestors(graph, (at, unit)) | {(at, unit)})
            and any(end == len(edges) for end, _ in nx.descendants(graph, (at, unit)) | {(at, unit)})
        ]
        assert units.tolist() == expected


@given(networks())
def test_later_units_are_the_descendants(edges: list[Edges]) -> None:
    graph = _graph(edges)
    for layer, features in enumerate(later_units(edges)):
        columns = [
            (at, unit) for at, matrix in enumerate(edges, 1) if at > layer for unit in range(len(matrix))
        ]
        assert features.shape[1] == len(columns)
        for unit, row in enumerate(features):
            assert {columns[place] for place in np.flatnonzero(row)} == nx.descendants(graph, (layer, unit))


@given(networks(), st.integers(0, 2**32))
def test_the_order_of_hidden_units_does_not_depend_on_their_numbers(edges: list[Edges], seed: int) -> None:
    chance = np.random.default_rng(seed)
    sizes = [edges[0].shape[1], *map(len, edges)]
    shuffles = [
        np.arange(sizes[0]),
        *(chance.permutation(size) for size in sizes[1:-1]),
        np.arange(sizes[-1]),
    ]
    shuffled = [
        matrix[np.ix_(after, before)]
        for matrix, (before, after) in zip(edges, pairwise(shuffles), strict=True)
    ]
    orders, others = (steady_orders(network, later_units(network)) for network in (edges, shuffled))
    assert orders[0].tolist() == list(range(sizes[0]))
    outputs = later_units(edges)
    for layer, (one, other) in enumerate(zip(orders, others, strict=True)):
        same = shuffles[layer][other]  # the order found after shuffling, in the first numbers
        assert sorted(one.tolist()) == sorted(same.tolist())
        # Units may change places only if they reach the same outputs.
        assert np.array_equal(outputs[layer][one][:, -sizes[-1] :], outputs[layer][same][:, -sizes[-1] :])
