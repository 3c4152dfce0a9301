"""Normalised spectral clustering (Shi and Malik): eigenvectors, then k-means on the nodes' rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...graph.graph import Floats, Indices, NetworkGraph
from ..checks import whole_number
from .eigenvectors import Spectrum, spectrum_of_adjacency, spectrum_of_halves
from .halves import Precision, halves_of
from .kmeans import kmeans
from .ncut import Graph, read_adjacency, unit_scale


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
        spectrum = Spectra(scaled).of([block.weights for block in scaled.blocks], k)
    else:
        spectrum = spectrum_of_adjacency(read_adjacency(graph), k)
    return clusters_of(spectrum, k, starts, np.random.default_rng(seed))


class Spectra:
    """The spectra of one graph with other weights, again and again."""

    def __init__(self, graph: NetworkGraph) -> None:
        self._graph = graph
        self._halves = halves_of(graph)

    def of(self, weights: Sequence[Floats], k: int, precision: Precision = np.float64) -> Spectrum:
        """Return the spectrum for these weights of the graph's blocks."""
        if self._halves is not None:
            found = spectrum_of_halves(self._halves, self._halves.matrix(weights, precision), k)
            if found is not None:
                return found
        return spectrum_of_adjacency(self._graph.with_weights(weights), k)


def clusters_of(spectrum: Spectrum, k: int, starts: int, rng: np.random.Generator) -> Indices:
    """Return the clusters of nodes with such eigenvectors; -1 for nodes without connections."""
    used = spectrum.part >= 0
    whole = np.full(len(used), -1)
    whole[used] = by_size(kmeans(spectrum.vectors[used], k, starts, rng), k)
    return whole


def by_size(labels: Indices, k: int) -> Indices:
    """Return labels numbered from the cluster with the most nodes on."""
    rank = np.empty(k, dtype=np.int64)
    rank[np.argsort(-np.bincount(labels, minlength=k), kind="stable")] = np.arange(k)
    return rank[labels]
