"""Whether a network is more clusterable than its weights would be by chance."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from ..errors import SpecError, unknown_name
from ..graph.graph import Indices, NetworkGraph
from ..graph.layers import Norm
from ..graph.network_graph import Convention, network_graph
from ..population.progress import FitProgress
from .checks import whole_number
from .doubts import doubts
from .null import Null
from .partition.cuts import Cutter, LeidenCutter, SpectralCutter
from .partition.ncut import unit_scale
from .result import Clusterability, Stability
from .shuffle import Shuffle, Shuffles

Result = TypeVar("Result")
Method: TypeAlias = Literal["spectral", "leiden"]
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
        resolution that gives k of them (needs ``dovetail[leiden]``).
    example_input : Tensor, optional
        A batch that the network takes; needed for all but plain chains of dense layers.
    norm, convention
        How weights become connections; see `network_graph`.
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
    k = whole_number("k", k, least=2)
    shuffles = whole_number("shuffles", shuffles, least=0)
    starts = whole_number("starts", starts, least=1)
    stability = whole_number("stability", stability, least=0)
    seed = whole_number("seed", seed, least=0)
    if method not in get_args(Method):
        raise unknown_name("method", method, get_args(Method))
    if isinstance(network, NetworkGraph):
        if example_input is not None or norm != "l1" or convention is not None:
            raise SpecError("example_input, norm and convention are for making a graph; this is one already")
        graph = network
    else:
        graph = network_graph(network, example_input, norm=norm, convention=convention)
    scaled = unit_scale(graph)
    copies = Shuffles(scaled, shuffle)
    cutter: Cutter = SpectralCutter(scaled, k, starts) if method == "spectral" else LeidenCutter(scaled, k)
    with threadpool_limits(1):
        first = cutter.cut([block.weights for block in scaled.blocks], (seed, 0))

    def again(number: int) -> tuple[float, Indices]:
        return cutter.again(first, (seed, 0, number))

    def copy(number: int) -> float:
        rng = np.random.default_rng((seed, 1, number))
        return cutter.cut(copies.draw(rng), (seed, 2, number), copy=True).ncut

    null = np.zeros(shuffles)
    with FitProgress("shuffled copies", shuffles, show=progress, unit="copies") as bar:
        if on_null is not None:
            on_null(Null(first.ncut, null[:0]))
        others = list(_in_threads(again, stability))
        with closing(_in_threads(copy, shuffles)) as ncuts:
            for number, ncut in enumerate(ncuts):
                null[number] = ncut
                bar.advance(1)
                if on_null is not None:
                    on_null(Null(first.ncut, null[: number + 1].copy()))
    agreement = [adjusted_rand_score(first.labels, labels) for _, labels in others]
    cuts = np.array([cut for cut, _ in others], dtype=np.float64)
    embedding = np.zeros((len(graph), 0))
    if first.spectrum is not None:
        embedding = np.where(first.part[:, None] >= 0, first.spectrum.vectors, np.nan)
    return Clusterability(
        graph=graph, k=k, ncut=first.ncut, null=null, labels=first.labels,
        components=int(first.part.max()) + 1,
        eigenvalues=np.zeros(0) if first.spectrum is None else first.spectrum.values, embedding=embedding,
        stability=Stability(cuts, float(np.mean(agreement)) if agreement else float("nan")),
        warnings=doubts(scaled, first.labels, first.part, k),
        shuffle=shuffle, method=method, seed=seed,
    )  # fmt: skip


def _in_threads(work: Callable[[int], Result], count: int) -> Generator[Result]:
    """Yield what work gives for 0 to count - 1.

    Copies are independent, so each core takes its own, and products are too small for several threads to share.
    """
    with threadpool_limits(1), ThreadPoolExecutor(_cores()) as pool:
        yield from pool.map(work, range(count))


def _cores() -> int:
    """Return how many copies to make at once: as many threads as torch may use; each copy takes memory."""
    return min(torch.get_num_threads(), 16)
