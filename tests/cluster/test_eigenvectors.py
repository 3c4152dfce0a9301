"""Spectra of graphs against a dense solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.cluster.partition import spectrum as spectrum_file
from dovetail.cluster.partition.spectrum import (
    Spectrum,
    bipartite_of,
    spectrum_of_adjacency,
    spectrum_of_bipartite,
)
from dovetail.graph.graph import NetworkGraph

from .graphs import chain, dense_spectrum, random_layers


def of_bipartite(graph: NetworkGraph, k: int) -> Spectrum | None:
    sides = bipartite_of(graph)
    assert sides is not None
    return spectrum_of_bipartite(sides, sides.matrix([block.weights for block in graph.blocks]), k)


def check(spectrum: Spectrum, graph: NetworkGraph, k: int) -> None:
    adjacency = graph.adjacency.toarray()
    values, _ = dense_spectrum(adjacency)
    np.testing.assert_allclose(spectrum.values, values[:k], atol=1e-10)
    degrees = adjacency.sum(1)
    laplacian = np.diag(degrees) - adjacency
    vectors = spectrum.vectors
    residual = laplacian @ vectors - degrees[:, None] * vectors * spectrum.values
    np.testing.assert_allclose(residual, 0, atol=1e-6)
    # Orthonormal with respect to D, as `scipy.linalg.eigh(L, D)` has them.
    np.testing.assert_allclose(vectors.T @ (degrees[:, None] * vectors), np.eye(k), atol=1e-6)
    assert (vectors[degrees == 0] == 0).all()


@pytest.mark.parametrize("widths", [[20, 30, 25], [8, 40, 12, 33, 6], [400, 350, 10]])
@pytest.mark.parametrize("density", [1.0, 0.3])
def test_two_sides_give_the_spectrum_of_the_whole(widths: list[int], density: float) -> None:
    graph = chain(random_layers(widths, density))
    spectrum = of_bipartite(graph, 5)
    assert spectrum is not None
    check(spectrum, graph, 5)
    check(spectrum_of_adjacency(graph.adjacency, 5), graph, 5)


@given(st.integers(0, 10_000))
def test_sparse_networks_in_parts_and_with_dead_units(seed: int) -> None:
    graph = chain(random_layers([9, 8, 10, 7], density=0.15, seed=seed))
    connected = int((graph.adjacency.sum(1) > 0).sum())
    k = 4
    if connected <= k:
        return
    expected, _ = dense_spectrum(graph.adjacency.toarray())
    parts = int((np.abs(expected) < 1e-9).sum())
    whole = spectrum_of_adjacency(graph.adjacency, k)
    assert whole.component.max() + 1 == parts
    check(whole, graph, k)
    small = of_bipartite(graph, k)
    if small is None:  # a value of 1 among the first four is not a singular value
        assert expected[k - 1] > 1 - 1e-5
    else:
        assert small.component.max() + 1 == parts
        check(small, graph, k)


def test_many_copies_of_a_part_all_count() -> None:
    layer = np.kron(np.eye(60), np.random.default_rng(0).random((8, 8)))
    graph = chain([layer, layer])
    spectrum = of_bipartite(graph, 62)
    assert spectrum is not None
    assert spectrum.component.max() + 1 == 60
    check(spectrum, graph, 62)


def test_a_cycle_of_odd_length_has_no_two_sides() -> None:
    first = chain(random_layers([3, 4, 5]))
    skip = chain(random_layers([3, 5])).blocks[0]
    shortcut = type(skip)("skip", first.blocks[1].outputs, first.blocks[0].inputs, skip.weights)
    graph = NetworkGraph(first.groups, (*first.blocks, shortcut))
    assert bipartite_of(graph) is None
    check(spectrum_of_adjacency(graph.adjacency, 3), graph, 3)


@pytest.mark.parametrize("weak", [1e-1, 1e-3])
def test_eigenvalues_that_are_equal_are_all_found(weak: float) -> None:
    """Blocks that are all the same, alike connected with each other: eleven equal eigenvalues."""
    layer = np.kron(np.eye(12), np.random.default_rng(0).random((40, 40))) + weak
    graph = chain([layer, layer])
    for spectrum in (of_bipartite(graph, 12), spectrum_of_adjacency(graph.adjacency, 12)):
        assert spectrum is not None
        check(spectrum, graph, 12)


def test_a_few_connected_nodes_among_many_are_cheap() -> None:
    layer = np.zeros((3000, 3000))
    layer[:40, :40] = np.random.default_rng(0).random((40, 40))
    graph = chain([layer])
    spectrum = spectrum_of_adjacency(graph.adjacency, 3)
    assert (spectrum.component >= 0).sum() == 80
    np.testing.assert_allclose(
        spectrum.values, dense_spectrum(chain([layer[:40, :40]]).adjacency.toarray())[0][:3], atol=1e-10
    )


@pytest.mark.parametrize("widths", [[20, 30, 25], [8, 40, 12, 33, 6]])
def test_the_half_size_product_is_that_of_the_whole_matrix(widths: list[int]) -> None:
    graph = chain(random_layers(widths, 0.5))
    sides = bipartite_of(graph)
    assert sides is not None
    matrix = sides.matrix([block.weights for block in graph.blocks])
    np.testing.assert_allclose(sides.gram(matrix), matrix.T @ matrix, atol=1e-12)


def test_a_value_that_the_first_search_missed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search gives the largest eigenvalues but one; it comes up when these are moved away."""
    graph = chain([np.random.default_rng(1).random((420, 400)) ** 8])
    search = spectrum_file._lanczos
    missed: list[bool] = []

    def all_but_one(apply: Any, size: int, count: int, *rest: Any, **options: Any) -> Any:
        if count == 1 or missed:
            return search(apply, size, count, *rest, **options)
        missed.append(True)
        found = search(apply, size, count + 1, *rest, **options)
        assert found is not None
        values, vectors = found
        return np.delete(values, 2), np.delete(vectors, 2, axis=1)

    monkeypatch.setattr(spectrum_file, "_lanczos", all_but_one)
    spectrum = of_bipartite(graph, 6)
    assert missed
    assert spectrum is not None
    check(spectrum, graph, 6)
