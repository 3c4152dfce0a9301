"""Spectral clustering, normalised (Shi and Malik): eigenvectors, then k-means on the nodes' rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...graph.graph import Floats, Indices, NetworkGraph
from ...threads import one_blas_thread
from ..checks import whole_number
from .kmeans import kmeans
from .ncut import Graph, ncut_of_blocks, read_adjacency, unit_scale
from .operator import Blocks, Precision
from .spectrum import (
    Spectrum,
    bipartite_of,
    spectrum_of_adjacency,
    spectrum_of_bipartite,
    spectrum_of_blocks,
)

LARGE = 1000
"""Nodes from which on a graph without two sides is not made a matrix."""

_SMALLEST = 1e-30
"""Weights that single precision still tells from 0, with room for their products."""


def spectral_clusters(graph: Graph, k: int = 12, *, seed: int = 0, starts: int = 25) -> Indices:
    """Return the cluster of each node by normalised spectral clustering.

    Nodes are described by the k smallest generalised eigenvectors of (L, D), and grouped by k-means.

    Parameters
    ----------
    graph : NetworkGraph, sparse or dense matrix
        What `network_graph` makes, or any symmetric matrix of connections.
    k : int
        Number of clusters.
    seed, starts : int
        Of k-means: the seed of its random starts, and how many there are.

    Returns
    -------
    int array
        Labels 0 to k - 1; -1 for nodes without connections.

    Examples
    --------
    >>> import dovetail as dt
    >>> pairs = [[0, 9, 0, 0], [9, 0, 1, 0], [0, 1, 0, 9], [0, 0, 9, 0]]
    >>> labels = dt.spectral_clusters(pairs, k=2)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    k, starts = whole_number("k", k, least=2), whole_number("starts", starts, least=1)
    seed = whole_number("seed", seed, least=0)
    if isinstance(graph, NetworkGraph):
        scaled = unit_scale(graph)
        with one_blas_thread():
            spectrum = Spectra(scaled).of([block.weights for block in scaled.blocks], k)
    else:
        spectrum = spectrum_of_adjacency(read_adjacency(graph), k)
    return clusters_of(spectrum, k, starts, np.random.default_rng(seed))


class Spectra:
    """The spectra of one graph with other weights, again and again."""

    def __init__(self, graph: NetworkGraph) -> None:
        self._graph = graph
        self._bipartite = bipartite_of(graph)
        self._blocks = Blocks(graph)

    def of(self, weights: Sequence[Floats], k: int, precision: Precision = np.float64) -> Spectrum:
        """Return the spectrum for these weights of the graph's blocks."""
        if self._bipartite is not None:
            found = spectrum_of_bipartite(self._bipartite, self._bipartite.matrix(weights, precision), k)
            if found is not None:
                return found
        if len(self._graph) > LARGE:
            found = spectrum_of_blocks(self._graph, self._blocks, weights, k, precision)
            if found is not None:
                return found
        return spectrum_of_adjacency(self._graph.with_weights(weights), k)


def clusters_of(spectrum: Spectrum, k: int, starts: int, rng: np.random.Generator) -> Indices:
    """Return the clusters of nodes with such eigenvectors; -1 for nodes without connections."""
    used = spectrum.component >= 0
    whole = np.full(len(used), -1)
    whole[used] = by_size(kmeans(spectrum.vectors[used], k, starts, rng), k)
    return whole


def by_size(labels: Indices, k: int) -> Indices:
    """Return labels numbered from the cluster with the most nodes on."""
    rank = np.empty(k, dtype=np.int64)
    rank[np.argsort(-np.bincount(labels, minlength=k), kind="stable")] = np.arange(k)
    return rank[labels]


class Cut(NamedTuple):
    """A clustering: its n-cut, each node's cluster and connected component, and the spectrum if there is one."""

    ncut: float
    labels: Indices
    component: Indices
    spectrum: Spectrum | None


class SpectralCutter:
    """Normalised spectral clustering, for graphs whose largest weight is 1."""

    def __init__(self, graph: NetworkGraph, k: int, starts: int) -> None:
        self._graph, self._k, self._starts = graph, k, starts
        self._spectra = Spectra(graph)
        smallest = min(
            (block.weights[block.weights > 0].min(initial=1) for block in graph.blocks), default=1.0
        )
        self._for_copies: Precision = np.float32 if smallest > _SMALLEST else np.float64

    def cut(self, weights: Sequence[Floats], seed: Sequence[int], *, copy: bool = False) -> Cut:
        """Return the clustering for weights of the graph's blocks; of copies in single precision, as k-means is."""
        spectrum = self._spectra.of(weights, self._k, self._for_copies if copy else np.float64)
        labels = clusters_of(spectrum, self._k, self._starts, np.random.default_rng(seed))
        value = ncut_of_blocks(self._graph.blocks, weights, labels, self._k)
        return Cut(value, labels, spectrum.component, spectrum)

    def again(self, cut: Cut, seed: Sequence[int]) -> tuple[float, Indices]:
        """Return n-cut and labels with another seed of k-means; the eigenvectors stay."""
        assert cut.spectrum is not None
        labels = clusters_of(cut.spectrum, self._k, self._starts, np.random.default_rng(seed))
        own = [block.weights for block in self._graph.blocks]
        return ncut_of_blocks(self._graph.blocks, own, labels, self._k), labels
