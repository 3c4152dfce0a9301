"""Ways to cut a network's graph into k clusters: one object each, used for the network and all its shuffled copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ...graph.graph import Floats, Indices, NetworkGraph
from .eigenvectors import Spectrum, connected_parts
from .halves import Precision
from .leiden import leiden_clusters
from .ncut import ncut, ncut_of_blocks
from .spectral import Spectra, clusters_of

_SMALLEST = 1e-30
"""Weights that single precision still tells from 0, with room for their products."""


class Cut(NamedTuple):
    """A clustering: its n-cut, each node's cluster and connected part, and the spectrum if there is one."""

    ncut: float
    labels: Indices
    part: Indices
    spectrum: Spectrum | None


class Cutter(Protocol):
    """Cuts one graph, with any weights."""

    def cut(self, weights: Sequence[Floats], seed: Sequence[int], *, copy: bool = False) -> Cut:
        """Return the clustering for weights of the graph's blocks; copies may be computed with less precision."""

    def again(self, cut: Cut, seed: Sequence[int]) -> tuple[float, Indices]:
        """Return n-cut and labels of the graph's own weights with another seed."""


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
        return Cut(value, labels, spectrum.part, spectrum)

    def again(self, cut: Cut, seed: Sequence[int]) -> tuple[float, Indices]:
        """Return n-cut and labels with another seed of k-means; the eigenvectors stay."""
        assert cut.spectrum is not None
        labels = clusters_of(cut.spectrum, self._k, self._starts, np.random.default_rng(seed))
        own = [block.weights for block in self._graph.blocks]
        return ncut_of_blocks(self._graph.blocks, own, labels, self._k), labels


class LeidenCutter:
    """Communities by the Leiden algorithm."""

    def __init__(self, graph: NetworkGraph, k: int) -> None:
        self._graph, self._k = graph, k

    def cut(self, weights: Sequence[Floats], seed: Sequence[int], *, copy: bool = False) -> Cut:
        """Return the clustering for weights of the graph's blocks."""
        adjacency = self._graph.with_weights(weights)
        number = int(np.random.default_rng(seed).integers(2**31))
        labels = leiden_clusters(adjacency, self._k, seed=number)
        _, part = connected_parts(adjacency)
        return Cut(ncut(adjacency, labels), labels, part, None)

    def again(self, cut: Cut, seed: Sequence[int]) -> tuple[float, Indices]:
        """Return n-cut and labels with another seed."""
        other = self.cut([block.weights for block in self._graph.blocks], seed)
        return other.ncut, other.labels
