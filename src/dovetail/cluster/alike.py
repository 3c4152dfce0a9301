"""Units that are alike: by where paths through them come from and lead to, or by what outputs lose without them."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from torch import Tensor, nn

from ..errors import ShapeError, SpecError
from ..graph.graph import Floats, Indices, NetworkGraph
from ..graph.intercept import changed_inputs
from ..graph.network_graph import network_graph, nodes_of_units
from ..graph.read import read_network
from ..graph.trace import evaluating
from ..threads import one_blas_thread
from .ablation import UnitMask, as_inputs

_ROWS = 4096
"""Samples times variants in a pass."""


def path_profiles(graph: NetworkGraph) -> Floats:
    """Return from which units paths come to each unit, and to which they lead.

    The strength of a path is the product of its connections, as in `path_products`; between two units it is the sum
    over all paths. Paths begin at nodes that nothing writes and end at nodes that nothing reads.

    Parameters
    ----------
    graph : NetworkGraph
        Whose blocks are in the order in which the network runs.

    Returns
    -------
    float array
        ``[nodes, ends]``, first the beginnings of paths and then their ends. Either part of a row adds up to 1, or is 0
        where there is no path. A unit at an end itself has itself there.

    Examples
    --------
    >>> import dovetail as dt
    >>> path_profiles(dt.network_graph([[[1.0, 0.0], [0.0, 2.0]], [[3.0, 1.0]]])).tolist()[2:4]
    [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    """
    written, read = np.zeros(len(graph), dtype=bool), np.zeros(len(graph), dtype=bool)
    for block in graph.blocks:
        written[block.outputs] = True
        read[block.inputs] = True
    from_begin, to_end = _at(~written), _at(~read)
    for block in graph.blocks:
        np.add.at(from_begin, block.outputs, block.weights @ from_begin[block.inputs])
        from_begin /= max(1.0, from_begin.max(initial=0))  # of paths only the proportions count
    for block in reversed(graph.blocks):
        np.add.at(to_end, block.inputs, block.weights.T @ to_end[block.outputs])
        to_end /= max(1.0, to_end.max(initial=0))
    return np.concatenate([_shares(from_begin), _shares(to_end)], axis=1)


def effect_profiles(network: nn.Module, samples: Tensor, graph: NetworkGraph | None = None) -> Floats:
    """Return what each output of a network loses without each unit.

    A unit is taken out as by `lesion`: what every layer reads from it is 0.

    Parameters
    ----------
    network : nn.Module
        Its outputs lie along the last dimension.
    samples : Tensor
        A batch to measure on.
    graph : NetworkGraph, optional
        Whose nodes are taken out; by default what `network_graph` makes of the network.

    Returns
    -------
    float array
        ``[nodes, outputs]``: by how much the output changes, the root of the mean square over samples and places. A
        node that no layer reads, such as an output or a query of attention, changes nothing.

    Examples
    --------
    >>> import dovetail as dt
    >>> network = nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU(), nn.Linear(2, 2, bias=False))
    >>> with torch.no_grad():
    ...     for layer in (network[0], network[2]):
    ...         _ = layer.weight.copy_(torch.eye(2))
    >>> effect_profiles(network, torch.tensor([[1.0, 3.0]])).tolist()[2:4]
    [[1.0, 0.0], [0.0, 3.0]]
    """
    graph = network_graph(network, samples[:2]) if graph is None else graph
    reading = read_network(network, samples[:2])
    like = next(network.parameters())
    keep = torch.from_numpy(~np.eye(len(graph), dtype=bool))
    mask = UnitMask(
        reading, nodes_of_units(reading, graph), nn.functional.pad(keep, (0, 1), value=True).to(like.device)
    )
    x = as_inputs(samples, like)
    at_once = max(1, _ROWS // len(x))
    found = []
    with evaluating(network), torch.no_grad():
        whole = _outputs(network(x))
        for start in range(0, len(keep), at_once):
            variants = slice(start, min(start + at_once, len(keep)))
            together = x.expand(variants.stop - start, *x.shape).flatten(0, 1)
            mask.begin(variants, len(together))
            with changed_inputs(reading.layers, mask):
                changed = _outputs(network(together)).unflatten(0, (-1, len(x)))
            off = (changed - whole).double().square()
            found.append(off.flatten(1, -2).mean(1).sqrt().cpu())
    return torch.cat(found).numpy()


def profile_clusters(profiles: ArrayLike, k: int, *, seed: int = 0) -> tuple[Indices, float]:
    """Return k clusters of units whose profiles are alike, and how far clusters explain the profiles.

    Profiles are compared by what sets them apart from the mean of all: each row is divided by its sum, the mean row is
    taken off, and what is left has length 1. Rows are clustered by k-means.

    Parameters
    ----------
    profiles : float array
        ``[units, ...]``, at least 0. Rows of zeros are in no cluster (-1).
    k : int
        Number of clusters.
    seed : int
        Of the starts of k-means.

    Returns
    -------
    labels : int array
        The cluster of each unit.
    explained : float
        The share of the profiles' variance that is between clusters.

    Examples
    --------
    >>> profile_clusters([[9, 1], [8, 2], [1, 9], [0, 0]], 2)[0].tolist()[2:]
    [1, -1]
    """
    rows = np.asarray(profiles, dtype=np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all() or (rows < 0).any():
        raise ShapeError(
            f"profiles are rows of finite numbers from 0 on, one for each unit; got shape {rows.shape}"
        )
    used = rows.any(axis=1)
    if not 1 <= k <= np.count_nonzero(used):
        raise SpecError(
            f"k={k} clusters of {np.count_nonzero(used)} units with a profile: k must be from 1 to that"
        )
    apart = _shares(rows[used])
    apart -= apart.mean(axis=0)
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    apart = np.divide(apart, lengths, out=np.zeros_like(apart), where=lengths > _ROUNDING)
    total = np.square(apart - apart.mean(axis=0)).sum()
    if total <= _ROUNDING:  # all are alike
        return np.where(used, 0, -1), 0.0
    with one_blas_thread():
        means = KMeans(k, n_init=10, random_state=seed).fit(apart)
    labels = np.full(len(rows), -1)
    labels[used] = means.labels_
    return labels, float(1 - means.inertia_ / total)


_ROUNDING = 1e-12
"""Profiles that differ by less are the same."""


def _at(nodes: NDArray[np.bool_]) -> Floats:
    """Return a row for each node with a 1 for those that are ends, ``[nodes, ends]``."""
    numbers = np.flatnonzero(nodes)
    found = np.zeros((len(nodes), len(numbers)))
    found[numbers, np.arange(len(numbers))] = 1
    return found


def _shares(rows: Floats) -> Floats:
    total = rows.sum(axis=1, keepdims=True)
    found: Floats = np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)
    return found


def _outputs(found: object) -> Tensor:
    if not isinstance(found, Tensor) or found.dim() < 2:
        what = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        raise ShapeError(
            f"effects need outputs along the last dimension, of a batch; the network gives {what}"
        )
    return found
