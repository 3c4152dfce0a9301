"""Clusterability of a network: how well it falls into clusters, and whether chance would do as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score
from torch import Tensor, nn

from ..errors import SpecError
from ..graph.graph import Floats, Indices, NetworkGraph
from ..graph.layers import Norm
from ..graph.network_graph import Convention, Residual, network_graph
from ..graph.selection import part_of
from ..io.fields import nan_to_null
from ..markup import matrix_html, text_html
from ..population.progress import ProgressBar
from ..result import Result
from ..threads import in_threads, map_in_turn, one_blas_thread
from .depth import Depth, WithinLayers, depth_share
from .doubts import depth_doubts, doubts, named_units, negligible_units, without_units
from .null import Null, Shuffles, verdict
from .partition.leiden import LeidenCutter
from .partition.ncut import unit_scale
from .partition.spectral import SpectralCutter
from .plots import draw_composition, draw_embedding, draw_null
from .settings import AuditSettings, Method, Shuffle

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "dovetail.clusterability/1"

_LARGE = 20_000_000
"""Weights of a graph, those that are 0 counted, from which on its copies are made one by one."""

Network: TypeAlias = nn.Module | Mapping[str, Tensor] | Sequence[ArrayLike | Tensor] | NetworkGraph


def clusterability(
    network: Network,
    k: int = 12,
    shuffles: int = 50,
    *,
    shuffle: Shuffle = "layer",
    seed: int = 0,
    method: Method = "spectral",
    example_input: Tensor | None = None,
    norm: Norm = "l1",
    convention: Convention | None = None,
    residual: Residual = "nodes",
    layers: Sequence[str] | None = None,
    units: Sequence[str] | None = None,
    all_units: bool = False,
    starts: int = 25,
    stability: int = 5,
    progress: bool = True,
    on_null: Callable[[Null], None] | None = None,
) -> Clusterability:
    """Cluster a network's units and compare the n-cut with that of shuffled copies.

    Parameters
    ----------
    network : nn.Module, mapping, sequence or NetworkGraph
        A network, its state dict, its weight matrices ``[outputs, inputs]``, or what `network_graph` made of it.
    k : int
        Number of clusters.
    shuffles : int
        Number of shuffled copies; each is clustered like the network itself.
    shuffle : str
        ``"layer"``: all weights of a layer change places, among the units that have connections. ``"layer-nonzero"``:
        only those that are not 0, so that the copies keep the pattern that pruning left.
    seed : int
        Seed of shuffles and clusterings.
    method : str
        ``"spectral"``: normalised spectral clustering, as in the paper. ``"leiden"``: communities by modularity, at the
        resolution that gives k of them (needs ``dovetail-nn[leiden]``).
    example_input : Tensor, optional
        A batch that the network takes; needed for all but plain chains of dense layers.
    norm, convention, residual
        How weights become connections; see `network_graph`.
    layers, units : sequence of str, optional
        Audit only a part of the network: these layers, and these units of others (``"fc1:0-15"``, ``"attn head 3"``).
    all_units : bool
        Cluster also units whose connections are less than 1e-5 of what is usual in their layer. They do nothing, but
        decide the n-cut; by default they are left out, and `warnings` names them.
    starts : int
        Random starts of k-means.
    stability : int
        How many more times to cluster the network, with other seeds.
    progress : bool
        Show a progress bar (on terminals only).
    on_null : callable, optional
        Is told how far the null is: once the network itself is cut, and again after every copy. It may raise, to end
        the audit.

    Returns
    -------
    Clusterability
        N-cut, null distribution, p-value, clusters and doubts.

    References
    ----------
    Filan et al., *Clusterability in Neural Networks*, 2021.

    Examples
    --------
    >>> import dovetail as dt
    >>> network = dt.build_net("mlp:32-32", (16,), 4, seed=0)
    >>> found = dt.clusterability(network, k=4, shuffles=20, progress=False)
    >>> bool(0.05 < found.p_value <= 1)  # not trained: like its own shuffled copies
    True
    """
    settings = AuditSettings.from_arguments(locals())
    k, shuffles, seed = settings.k, settings.shuffles, settings.seed
    if isinstance(network, NetworkGraph):
        if example_input is not None or norm != "l1" or convention is not None or residual != "nodes":
            raise SpecError(
                "example_input, norm, convention and residual are for making a graph; this is one already"
            )
        part = layers is not None or units is not None
        graph = part_of(network, layers or (), units or ()) if part else network
    else:
        graph = network_graph(
            network,
            example_input,
            norm=norm,
            convention=convention,
            residual=residual,
            layers=layers,
            units=units,
        )
    if graph.blocks and not any(block.weights.any() for block in graph.blocks):
        raise SpecError(
            "all weights are 0, so nothing is connected and there are no clusters; give a trained network"
        )
    left_out = np.zeros(len(graph), dtype=bool) if all_units else negligible_units(graph)
    graph = without_units(graph, left_out)
    scaled = unit_scale(graph)
    copies = Shuffles(scaled, shuffle)
    cutter: SpectralCutter | LeidenCutter = (
        SpectralCutter(scaled, k, settings.starts) if method == "spectral" else LeidenCutter(scaled, k)
    )
    # Large graphs are cut one after the other: there is no room for several copies at once.
    large = sum(block.weights.size for block in scaled.blocks) > _LARGE
    side_by_side = map_in_turn if large else in_threads
    with one_blas_thread():
        first = cutter.cut([block.weights for block in scaled.blocks], (seed, 0))

    def again(number: int) -> tuple[float, Indices]:
        return cutter.again(first, (seed, 0, number))

    within = WithinLayers(scaled, k)

    def copy(number: int) -> tuple[float, float]:
        weights = copies.draw(np.random.default_rng((seed, 1, number)))
        cut = cutter.cut(weights, (seed, 2, number), copy=True)
        return cut.ncut, within.gain(weights, cut.labels, cut.ncut)

    null, gains = np.zeros(shuffles), np.zeros(shuffles)
    with ProgressBar("shuffled copies", shuffles, show=progress, unit="copies") as bar:
        if on_null is not None:
            on_null(Null(first.ncut, null[:0]))
        others = list(side_by_side(again, settings.stability))
        with closing(side_by_side(copy, shuffles)) as ncuts:
            for number, found in enumerate(ncuts):
                null[number], gains[number] = found
                bar.advance(1)
                if on_null is not None:
                    on_null(Null(first.ncut, null[: number + 1].copy()))
    agreement = [adjusted_rand_score(first.labels, labels) for _, labels in others]
    cuts = np.array([cut for cut, _ in others], dtype=np.float64)
    embedding = np.zeros((len(graph), 0))
    if first.spectrum is not None:
        embedding = np.where(first.component[:, None] >= 0, first.spectrum.vectors, np.nan)
    own = within.gain([block.weights for block in scaled.blocks], first.labels, first.ncut)
    depth = Depth(depth_share(graph, first.labels), own, gains)
    return Clusterability(
        graph=graph, k=k, ncut=first.ncut, null=null, labels=first.labels, depth=depth,
        components=int(first.component.max()) + 1,
        eigenvalues=np.zeros(0) if first.spectrum is None else first.spectrum.values, embedding=embedding,
        stability=Stability(cuts, float(np.mean(agreement)) if agreement else float("nan")),
        negligible=np.flatnonzero(left_out),
        warnings=(*_left_out(graph, left_out), *doubts(scaled, first.labels, first.component, k), *depth_doubts(depth)),
        shuffle=shuffle, method=method, seed=seed,
    )  # fmt: skip


def _left_out(graph: NetworkGraph, units: NDArray[np.bool_]) -> list[str]:
    """Return what to say about units that were left out."""
    if not units.any():
        return []
    return [
        f"{units.sum()} units are left out: their connections are less than 1e-5 of what is usual in their layer, so "
        f"they do nothing ({named_units(graph, units)}); all_units=True (--all-units) keeps them"
    ]


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
class Clusterability(Result):
    """How well a network falls into clusters, beside shuffled copies of itself.

    Attributes
    ----------
    graph : NetworkGraph
        The network as a graph, without the connections of negligible units.
    k : int
        Number of clusters.
    ncut : float
        N-cut of the network's clustering, 0 to k: the lower, the more clusterable.
    null : float array
        N-cuts of shuffled copies, each clustered in the same way.
    labels : int array
        The cluster of each node, 0 to k - 1 from the largest on; -1 for nodes without connections.
    negligible : int array
        Nodes that were left out because they do nothing; their label is -1.
    components : int
        Connected components of the graph; nodes without connections are not counted.
    eigenvalues : float array
        The k smallest of the normalised Laplacian; none for communities.
    embedding : float array
        What k-means saw, ``[nodes, k]``: generalised eigenvectors; not a number for nodes without connections.
    stability : Stability
        The same network clustered with other seeds.
    depth : Depth
        How far the clusters are only bands of layers, and what they are within layers, beside the copies.
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
    negligible: Indices
    components: int
    eigenvalues: Floats
    embedding: Floats
    stability: Stability
    depth: Depth
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
    def lower_by(self) -> float:
        """By what share the n-cut is below the copies' mean: how much, where z and p say how surely."""
        return self._beside.lower_by

    @property
    def z_range(self) -> tuple[float, float]:
        """Where 95 % of z-scores are when the shuffled copies are drawn again from themselves (bootstrap)."""
        return self._beside.z_range(self.seed)

    @property
    def _beside(self) -> Null:
        return Null(self.ncut, self.null)

    def composition(self) -> pd.DataFrame:
        """Return how many nodes of each layer are in each cluster."""
        import pandas as pd

        counts = np.zeros((self.k, len(self.graph.groups)), dtype=np.int64)
        used = self.labels >= 0
        np.add.at(counts, (self.labels[used], self.graph.group_of[used]), 1)
        return pd.DataFrame(
            counts, pd.RangeIndex(self.k, name="cluster"), [group.name for group in self.graph.groups]
        )

    def heads(self) -> pd.DataFrame:
        """Return how many of the units that each head of attention passes on are in each cluster."""
        import pandas as pd

        rows = [
            np.bincount(of[of >= 0], minlength=self.k)
            for of in (self.labels[head.values] for head in self.graph.heads)
        ]
        table = np.array(rows, dtype=np.int64).reshape(-1, self.k)
        names = pd.Index([head.name for head in self.graph.heads], name="head")
        return pd.DataFrame(table, names, pd.RangeIndex(self.k, name="cluster"))

    def verdict(self) -> str:
        """Return in words what the numbers say; nothing where the clustering has plainly failed."""
        return verdict(self._beside, self.k, self.eigenvalues)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each cluster: how many nodes of each layer it has, as `composition` does."""
        return self.composition()

    def to_dict(self) -> dict[str, object]:
        """Return everything but the graph's weights and the embedding as plain numbers, texts and lists."""
        found = {
            "schema": SCHEMA,
            "method": self.method, "shuffle": self.shuffle, "seed": self.seed, "k": self.k,
            "ncut": self.ncut, "leaving": self.ncut / self.k,
            "null": self.null.tolist(), "null_mean": self.null_mean, "null_std": self.null_std,
            "p_value": self.p_value, "z_score": self.z_score, "z_range": nan_to_null(list(self.z_range)),
            "lower_by": self.lower_by,
            "components": self.components, "eigenvalues": self.eigenvalues.tolist(),
            "stability": {"ncuts": self.stability.ncuts.tolist(), "agreement": self.stability.agreement},
            "depth": {
                "share": nan_to_null(self.depth.share), "gain": self.depth.gain, "gains": self.depth.copies.tolist(),
                "p_value": nan_to_null(self.depth.p_value),
            },
            "warnings": list(self.warnings),
            "groups": [{"name": group.name, "size": group.size} for group in self.graph.groups],
            "heads": [
                {"name": head.name, **{role: getattr(head, role).tolist() for role in ("queries", "keys", "values")}}
                for head in self.graph.heads
            ],
            "labels": self.labels.tolist(), "negligible": self.negligible.tolist(),
            "composition": self.composition().to_numpy().tolist(),
        }  # fmt: skip
        return {name: nan_to_null(value) for name, value in found.items()}

    def _html_pieces(self) -> Iterable[str]:
        yield text_html(f"{self!r}\n{self.verdict()}")
        yield matrix_html(self.to_frame())
        yield text_html("\n".join(f"warning: {warning}" for warning in self.warnings))

    plot_null = draw_null
    plot_composition = draw_composition
    plot_embedding = draw_embedding
