"""What an audit of a network's clusterability found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..graph.graph import Floats, Indices, NetworkGraph
from .null import Null
from .verdict import verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEMA = "dovetail.clusterability/1"


@dataclass(frozen=True, eq=False)
class Stability:
    """How much the clustering depends on the random starts of k-means.

    Attributes
    ----------
    ncuts : float array
        N-cuts of the same network with other seeds.
    agreement : float
        Mean adjusted Rand index between these clusterings and the one reported: 1 if all are the same, 0 if they
        agree as much as chance would.
    """

    ncuts: Floats
    agreement: float


@dataclass(frozen=True, eq=False)
class Clusterability:
    """How well a network falls into clusters, beside shuffled copies of itself.

    Attributes
    ----------
    graph : NetworkGraph
        The network as a graph.
    k : int
        Number of clusters.
    ncut : float
        N-cut of the network's clustering, 0 to k: the lower, the more clusterable.
    null : float array
        N-cuts of shuffled copies, each clustered in the same way.
    labels : int array
        The cluster of each node, 0 to k - 1 from the largest on; -1 for nodes without connections.
    components : int
        Connected parts of the graph; nodes without connections are not counted.
    eigenvalues : float array
        The k smallest of the normalised Laplacian; none for communities.
    embedding : float array
        What k-means saw, ``[nodes, k]``: generalised eigenvectors; not a number for nodes without connections.
    stability : Stability
        The same network clustered with other seeds.
    warnings : tuple of str
        What makes the numbers doubtful, in words.
    shuffle, method, seed
        As they were asked for.

    Examples
    --------
    >>> import dovetail as dt
    >>> blocks = np.kron(np.eye(3), np.ones((4, 4))) + 0.01
    >>> found = dt.clusterability([blocks, blocks], k=3, shuffles=20, progress=False)
    >>> found
    Clusterability(n-cut 0.06 of 3 clusters, 20 shuffled copies 1.22 ± 0.07, p = 0.048)
    >>> found.composition().loc[0].tolist()
    [4, 4, 4]
    """

    graph: NetworkGraph
    k: int
    ncut: float
    null: Floats
    labels: Indices
    components: int
    eigenvalues: Floats
    embedding: Floats
    stability: Stability
    warnings: tuple[str, ...]
    shuffle: str
    method: str
    seed: int

    def __repr__(self) -> str:
        text = f"n-cut {self.ncut:.2f} of {self.k} clusters"
        if len(self.null):
            text += (
                f", {len(self.null)} shuffled copies {self.null_mean:.2f} ± {self.null_std:.2f}, "
                f"p = {self.p_value:.2g}"
            )
        return f"Clusterability({text})"

    @property
    def null_mean(self) -> float:
        """Mean n-cut of the shuffled copies."""
        return self._beside.mean

    @property
    def null_std(self) -> float:
        """Standard deviation of the shuffled copies' n-cuts (of the population)."""
        return self._beside.std

    @property
    def p_value(self) -> float:
        """Share of copies that are as clusterable as the network, itself counted among them; ties count against it."""
        return self._beside.p_value

    @property
    def z_score(self) -> float:
        """Standard deviations of the shuffled copies that the network's n-cut is above their mean; below: negative."""
        return self._beside.z_score

    @property
    def _beside(self) -> Null:
        return Null(self.ncut, self.null)

    def composition(self) -> pd.DataFrame:
        """Return how many nodes of each layer are in each cluster."""
        counts = np.zeros((self.k, len(self.graph.groups)), dtype=np.int64)
        used = self.labels >= 0
        np.add.at(counts, (self.labels[used], self.graph.group_of[used]), 1)
        return pd.DataFrame(
            counts, pd.RangeIndex(self.k, name="cluster"), [group.name for group in self.graph.groups]
        )

    def verdict(self) -> str:
        """Return in words what the numbers say."""
        return verdict(self._beside, self.k)

    def to_json(self) -> dict[str, object]:
        """Return everything but the graph's weights and the embedding as plain numbers, texts and lists."""
        return {
            "schema": SCHEMA,
            "method": self.method, "shuffle": self.shuffle, "seed": self.seed, "k": self.k,
            "ncut": self.ncut, "leaving": self.ncut / self.k,
            "null": self.null.tolist(), "null_mean": _plain(self.null_mean), "null_std": _plain(self.null_std),
            "p_value": _plain(self.p_value), "z_score": _plain(self.z_score),
            "components": self.components, "eigenvalues": self.eigenvalues.tolist(),
            "stability": {
                "ncuts": self.stability.ncuts.tolist(), "agreement": _plain(self.stability.agreement),
            },
            "warnings": list(self.warnings),
            "groups": [{"name": group.name, "size": group.size} for group in self.graph.groups],
            "labels": self.labels.tolist(),
            "composition": self.composition().to_numpy().tolist(),
        }  # fmt: skip

    def plot_null(self, ax: Axes | None = None) -> Axes:
        """Draw the n-cuts of the shuffled copies and the network's own."""
        from .plots import draw_null

        return draw_null(self, ax)

    def plot_composition(self, ax: Axes | None = None) -> Axes:
        """Draw how many units of each layer are in each cluster."""
        from .plots import draw_composition

        return draw_composition(self, ax)

    def plot_embedding(self, ax: Axes | None = None) -> Axes:
        """Draw nodes by their second and third eigenvectors."""
        from .plots import draw_embedding

        return draw_embedding(self, ax)


def _plain(number: float) -> float | None:
    """Return a number as JSON has it: none for what is no finite number."""
    return number if np.isfinite(number) else None
