"""Communities by the Leiden algorithm, as many as are asked for: a second opinion beside spectral clustering."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from ...errors import SpecError
from ...graph.graph import Floats, Indices, NetworkGraph
from .ncut import ncut
from .spectral import Cut, by_size
from .spectrum import check_k, components_of

_TRIES = 24
"""Halvings of the range of resolutions."""


def leiden_clusters(adjacency: sparse.csr_array, k: int, *, seed: int = 0) -> Indices:
    """Return k communities of a graph; -1 for nodes without connections.

    Leiden maximises modularity, whose resolution decides how many communities there are: it is halved until there are
    k, and where no resolution gives exactly k, the next larger number is merged, those pairs first that lower the n-cut
    the most. So the n-cuts of a network and of its shuffled copies stay comparable.

    Examples
    --------
    >>> pairs = sparse.csr_array([[0, 9, 0, 0], [9, 0, 1, 0], [0, 1, 0, 9], [0, 0, 9, 0]], dtype=float)
    >>> leiden_clusters(pairs, 2).tolist()
    [0, 0, 1, 1]
    """
    try:
        import igraph
        import leidenalg
    except ImportError:
        raise SpecError(
            "method='leiden' needs igraph and leidenalg; install them with pip install 'dovetail-nn[leiden]'"
        ) from None
    used = np.asarray(adjacency.sum(1) > 0)
    check_k(k, int(used.sum()))
    upper = sparse.coo_array(sparse.triu(adjacency[used][:, used]))
    graph = igraph.Graph(n=int(used.sum()), edges=np.stack(upper.coords, axis=1).tolist())

    def communities(resolution: float) -> Indices:
        found = leidenalg.find_partition(
            graph, leidenalg.RBConfigurationVertexPartition, weights=upper.data, resolution_parameter=resolution,
            seed=seed % 2**31, n_iterations=2,
        )  # fmt: skip
        return np.array(found.membership, dtype=np.int64)

    labels = _at_least(communities, k)
    whole = np.full(len(used), -1)
    whole[used] = _merged(adjacency[used][:, used], labels, k)
    return whole


class LeidenCutter:
    """Communities by the Leiden algorithm."""

    def __init__(self, graph: NetworkGraph, k: int) -> None:
        self._graph, self._k = graph, k

    def cut(self, weights: Sequence[Floats], seed: Sequence[int], *, copy: bool = False) -> Cut:
        """Return the clustering for weights of the graph's blocks."""
        adjacency = self._graph.with_weights(weights)
        number = int(np.random.default_rng(seed).integers(2**31))
        labels = leiden_clusters(adjacency, self._k, seed=number)
        _, component = components_of(adjacency)
        return Cut(ncut(adjacency, labels), labels, component, None)

    def again(self, cut: Cut, seed: Sequence[int]) -> tuple[float, Indices]:
        """Return n-cut and labels with another seed."""
        other = self.cut([block.weights for block in self._graph.blocks], seed)
        return other.ncut, other.labels


def _at_least(communities: Callable[[float], Indices], k: int) -> Indices:
    """Return the communities at the lowest resolution found that gives k or more."""
    low, high = 0.0, 1.0
    labels = communities(high)
    while labels.max() + 1 < k:
        low, high = high, 2 * high
        labels = communities(high)
    for _ in range(_TRIES):
        if labels.max() + 1 == k:
            break
        middle = (low + high) / 2
        found = communities(middle)
        if found.max() + 1 < k:
            low = middle
        else:
            high, labels = middle, found
    return labels


def _merged(adjacency: sparse.csr_array, labels: Indices, k: int) -> Indices:
    """Merge clusters until there are k, at each step the two whose union lowers the n-cut most; largest first."""
    count = int(labels.max()) + 1
    one_hot = sparse.csr_array(
        (np.ones(len(labels)), labels, np.arange(len(labels) + 1)), shape=(len(labels), count)
    )
    between: Floats = (one_hot.T @ (adjacency @ one_hot)).toarray()
    while len(between) > k:
        inside, volume = np.diag(between), between.sum(1)
        kept = inside / volume
        pair = (inside[:, None] + inside + 2 * between) / (volume[:, None] + volume)
        gain = pair - kept[:, None] - kept
        np.fill_diagonal(gain, -np.inf)
        first, second = sorted(np.unravel_index(int(gain.argmax()), gain.shape))
        between[first] += between[second]
        between[:, first] += between[:, second]
        between = np.delete(np.delete(between, second, 0), second, 1)
        labels = np.where(labels == second, first, labels)
        labels = labels - (labels > second)
    return by_size(labels, k)
