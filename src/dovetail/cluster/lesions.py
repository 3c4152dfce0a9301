"""Lesions: what a network can do without each of its clusters. Structure is not function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from ..data.dataset import Dataset
from ..data.split import Split, is_finite
from ..errors import DataError, ShapeError, SpecError
from ..graph.graph import Floats, Indices, NetworkGraph
from ..graph.layers import Reading
from ..graph.network_graph import network_graph, nodes_of_units
from ..graph.read import read_network
from ..graph.trace import plain_module
from ..io.fields import nan_to_null
from ..population.progress import ProgressBar
from ..result import Result
from .ablation import check_fits, scores_by_class
from .audit import Clusterability
from .checks import whole_number
from .corrections import holm
from .plots import draw_lesions

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "dovetail.lesions/2"

_LEAST_DRAWS = 200
_LEVEL = 0.05
"""The p-value that a cluster which differs from all random sets must be able to reach."""

_ROUNDING = 1e-9
"""Accuracies that differ by less are the same."""


def lesion(
    network: nn.Module,
    found: Clusterability | ArrayLike,
    split: Split,
    *,
    graph: NetworkGraph | None = None,
    inputs: bool = True,
    draws: int | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    progress: bool = True,
) -> Lesions:
    """Measure a network without each of its clusters, and without random sets of the same make-up by layer.

    A unit is ablated by setting to 0 what every layer reads from it, after its activation and batch norm; the network
    itself is not changed. The outputs of the network are never ablated: a cluster's drop is that of its other units. A
    random set has as many units in every layer as the cluster, drawn from all units of that layer with connections.

    Parameters
    ----------
    network : nn.Module
        Maps a batch to logits. It is measured on the device where it is.
    found : Clusterability or int array
        What `clusterability` found in this network, or a cluster for each node of its graph (-1: in none).
    split : Split
        Samples and their classes, such as ``data.test``.
    graph : NetworkGraph, optional
        What labels are for, where that is not what `network_graph` makes of the network by default.
    inputs : bool
        Ablate inputs of the network too, where they are nodes. Without, only hidden units are.
    draws : int, optional
        Random sets for each cluster; by default 200, or 20 times the number of clusters where that is more: with fewer,
        a cluster that differs from all of them could not be told from chance once p-values are adjusted.
    seed : int
        Decides the random sets.
    batch_size : int, optional
        Samples in one pass, counted once for each of the networks that are measured together; by default as many as
        make good use of the memory.
    progress : bool
        Show a progress bar on terminals.

    Examples
    --------
    >>> import dovetail as dt
    >>> data, network = dt.load("digits"), dt.build_net("mlp:16", (1, 8, 8), 10, seed=0)
    >>> graph = dt.network_graph(network)
    >>> labels = (graph.unit_of % 2).tolist()
    >>> found = dt.lesion(network, labels, data.test, draws=5)
    >>> found.units.tolist()
    [[32, 8], [32, 8]]
    >>> found.drops.shape, found.random_drops.shape, found.class_drops.shape
    ((2,), (2, 5), (2, 10))
    """
    check_measurable(network, split, draws=draws, seed=seed, batch_size=batch_size)
    network = plain_module(network)
    check_fits(network, split)
    labels, graph = _labels_and_graph(network, found, split, graph)
    reading = read_network(network, split.x[:2])
    node_of = nodes_of_units(reading, graph)
    lesioned = read_by_layers(reading, node_of, len(graph))
    if not inputs:
        lesioned &= np.array([group.name != "input" for group in graph.groups])[graph.group_of]
    connected = np.diff(graph.adjacency.indptr) > 0
    if draws is None:
        draws = enough_draws(int(labels.max(initial=-1)) + 1)
    sets = matched_sets(labels, graph, lesioned, (connected | (labels >= 0)) & lesioned, draws, seed)
    keep = np.concatenate([np.ones((1, len(graph)), dtype=bool), ~sets.reshape(-1, len(graph))])
    with ProgressBar("lesions", len(keep) * len(split), show=progress, unit="samples") as bar:
        correct, samples = scores_by_class(
            network, reading, node_of, keep, split, rows=batch_size, advance=bar.advance
        )
    return _result(correct, samples, sets, graph, lesioned, int(seed))


def read_by_layers(reading: Reading, node_of: Indices, nodes: int) -> NDArray[np.bool_]:
    """Return which nodes any layer reads: all but the network's outputs."""
    read = np.zeros(nodes + 1, dtype=bool)  # and a last one, which inputs that come from no node lead to
    for layer in reading.layers:
        if layer.call is not None:  # of tokens, numbers are read, which cannot be 0
            read[node_of[layer.inputs]] = True
    return read[:-1]


def enough_draws(clusters: int) -> int:
    """Return how many random sets it takes to tell any of this many clusters from chance, and 200 at least.

    Examples
    --------
    >>> enough_draws(4), enough_draws(12)
    (200, 240)
    """
    return max(_LEAST_DRAWS, round(clusters / _LEVEL))


def matched_sets(
    labels: Indices,
    graph: NetworkGraph,
    lesioned: NDArray[np.bool_],
    pool: NDArray[np.bool_],
    draws: int,
    seed: int,
) -> NDArray[np.bool_]:
    """Return what to ablate, ``[clusters, 1 + draws, nodes]``: each cluster, and random sets like it."""
    clusters = int(labels.max(initial=-1)) + 1
    sets = np.zeros((clusters, 1 + draws, len(graph)), dtype=bool)
    sets[:, 0] = (labels == np.arange(clusters)[:, None]) & lesioned
    generator = np.random.default_rng(seed)
    for number in range(len(graph.groups)):
        nodes = np.flatnonzero((graph.group_of == number) & pool)
        wanted = sets[:, 0, nodes].sum(1)
        rank = generator.random((clusters, draws, len(nodes))).argsort(2).argsort(2)
        sets[:, 1:, nodes] = rank < wanted[:, None, None]
    return sets


def _result(
    correct: NDArray[np.float64],
    samples: NDArray[np.float64],
    sets: NDArray[np.bool_],
    graph: NetworkGraph,
    lesioned: NDArray[np.bool_],
    seed: int,
) -> Lesions:
    members = np.stack([graph.group_of == number for number in range(len(graph.groups))])
    shown: NDArray[np.bool_] = np.any(members & lesioned, axis=1)
    with np.errstate(invalid="ignore"):
        by_class = np.where(samples > 0, correct / samples, np.nan)
    total = correct.sum(1) / samples.sum()
    without = total[1:].reshape(sets.shape[:2])
    without_by_class = by_class[1:].reshape(*sets.shape[:2], len(samples))
    return Lesions(
        accuracy=float(total[0]),
        class_accuracy=by_class[0],
        layers=tuple(group.name for group, is_shown in zip(graph.groups, shown, strict=True) if is_shown),
        units=sets[:, 0].astype(np.int64) @ members[shown].T.astype(np.int64),
        accuracies=without[:, 0],
        random_accuracies=without[:, 1:],
        class_accuracies=without_by_class[:, 0],
        random_class_accuracies=without_by_class[:, 1:].mean(1),
        samples=int(samples.sum()),
        seed=seed,
    )


def _labels_and_graph(
    network: nn.Module, found: Clusterability | ArrayLike, split: Split, graph: NetworkGraph | None
) -> tuple[Indices, NetworkGraph]:
    if isinstance(found, Clusterability):
        return found.labels, found.graph
    if graph is None:
        graph = network_graph(network, split.x[:2])
    labels = np.asarray(found)
    if labels.shape != (len(graph),):
        raise ShapeError(
            f"labels of shape {labels.shape} for {graph!r}; one for each node is needed "
            "(graph= says for which nodes)"
        )
    if labels.dtype.kind not in "iu":
        raise SpecError(f"labels are whole numbers, -1 for nodes in no cluster; got {labels.dtype}")
    return labels.astype(np.int64), graph


def check_measurable(network: nn.Module, split: Split, **numbers: int | None) -> None:
    """Refuse what has no units to take out, samples that it cannot be measured on, and numbers that make no sense."""
    if not isinstance(network, nn.Module):
        raise SpecError(f"lesions need a network to measure, an nn.Module; got a {type(network).__name__}")
    if next(network.parameters(), None) is None:
        raise SpecError(f"this {type(network).__name__} has no weights, so there is nothing to ablate")
    for name, value in numbers.items():
        if value is not None:
            whole_number(name, value, least=0 if name == "seed" else 1)
    if isinstance(split, Dataset):
        raise SpecError(f"lesions are measured on one split; pass that of {split.name!r}, such as data.test")
    if not isinstance(split, Split):
        raise SpecError(f"lesions are measured on a Split, such as data.test; got a {type(split).__name__}")
    if not len(split):
        raise DataError("there are no samples to measure on")
    if not is_finite(split.x):
        raise DataError("the samples to measure on hold NaN or infinity; clean them first")
    if split.y.dtype != torch.int64 or split.y.dim() != 1:
        raise DataError(
            f"lesions measure how well classes are told apart: targets must be class ids, a vector of int64, not "
            f"{split.y.dtype} {tuple(split.y.shape)}"
        )


@dataclass(frozen=True, eq=False)
class Lesions(Result):
    """Accuracy without each cluster, beside accuracy without random sets of the same make-up by layer.

    Made by `lesion`. A drop is the accuracy of the whole network less that of a network without some units.

    Attributes
    ----------
    accuracy : float
        Of the whole network.
    class_accuracy : float array
        The same for each class, ``[classes]``; NaN for a class without samples.
    layers : tuple of str
        The layers with units that can be ablated. Outputs of the network are not among them.
    units : int array
        How many units of each layer each cluster has, ``[clusters, layers]``.
    accuracies : float array
        Without each cluster, ``[clusters]``.
    random_accuracies : float array
        Without random sets that have as many units in every layer, ``[clusters, draws]``.
    class_accuracies, random_class_accuracies : float array
        The same for each class, ``[clusters, classes]``; of random sets the mean of all draws.
    samples : int
        How many samples the accuracies are measured on.
    seed : int
        What decided the random sets.
    """

    accuracy: float
    class_accuracy: Floats
    layers: tuple[str, ...]
    units: Indices
    accuracies: Floats
    random_accuracies: Floats
    class_accuracies: Floats
    random_class_accuracies: Floats
    samples: int
    seed: int

    @property
    def drops(self) -> Floats:
        """By how much accuracy falls without each cluster, ``[clusters]``."""
        return self.accuracy - self.accuracies

    @property
    def random_drops(self) -> Floats:
        """By how much it falls without random sets, ``[clusters, draws]``."""
        return self.accuracy - self.random_accuracies

    @property
    def class_drops(self) -> Floats:
        """By how much the accuracy on each class falls without each cluster, ``[clusters, classes]``."""
        return self.class_accuracy - self.class_accuracies

    @property
    def random_class_drops(self) -> Floats:
        """The same without random sets, mean of all draws, ``[clusters, classes]``."""
        return self.class_accuracy - self.random_class_accuracies

    @property
    def p_values(self) -> Floats:
        """How likely a random set is to differ from the others as much as the cluster does, ``[clusters]``.

        In either direction, and adjusted by Holm's method for there being several clusters: that any of them is at most
        0.05 has a chance of 5 % if none of them is special. `adjusted_p_values` says how.
        """
        return adjusted_p_values(self.drops, self.random_drops)

    @property
    def least_p(self) -> float:
        """The lowest p-value that this many random sets can give, for a cluster that differs from all of them."""
        return float(min(1.0, len(self.drops) / (self.random_drops.shape[1] + 1)))

    def __repr__(self) -> str:
        if not len(self.drops):
            return f"Lesions(no clusters, accuracy {self.accuracy:.4f})"
        worst = int(self.drops.argmax())
        beside = self.random_drops[worst]
        return (
            f"Lesions({len(self.drops)} clusters, accuracy {self.accuracy:.4f}; largest drop {self.drops[worst]:.4f} "
            f"without cluster {worst}, random sets {beside.mean():.4f} ± {beside.std():.4f}, "
            f"p = {self.p_values[worst]:.3g})"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each cluster."""
        import pandas as pd

        return pd.DataFrame(
            {
                "units": self.units.sum(1),
                "accuracy": self.accuracies,
                "drop": self.drops,
                "random drop": self.random_drops.mean(1),
                "sd": self.random_drops.std(1),
                "p": self.p_values,
            }
        ).rename_axis("cluster")

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain numbers and lists."""
        return {
            "schema": SCHEMA,
            "accuracy": self.accuracy,
            "class_accuracy": nan_to_null(self.class_accuracy.tolist()),
            "samples": self.samples,
            "seed": self.seed,
            "layers": list(self.layers),
            "clusters": [
                {
                    "cluster": number,
                    "units": self.units[number].tolist(),
                    "accuracy": float(self.accuracies[number]),
                    "drop": float(self.drops[number]),
                    "random_drops": self.random_drops[number].tolist(),
                    "p_value": float(self.p_values[number]),
                    "class_drops": nan_to_null(self.class_drops[number].tolist()),
                    "random_class_drops": nan_to_null(self.random_class_drops[number].tolist()),
                }
                for number in range(len(self.drops))
            ],
        }

    plot = draw_lesions


def adjusted_p_values(drops: Floats, random_drops: Floats) -> Floats:
    """Return the p-values of clusters beside random sets, in both directions, adjusted by Holm's method.

    A cluster counts as one of its random sets. Its p-value is the share of these that are as far from the mean of all
    as the cluster is.

    Parameters
    ----------
    drops : float array
        Without each cluster, ``[clusters]``.
    random_drops : float array
        Without random sets, ``[clusters, draws]``.

    Examples
    --------
    >>> drops, random_drops = np.array([0.9, 0.0]), np.zeros((2, 99))
    >>> adjusted_p_values(drops, random_drops).tolist()
    [0.02, 1.0]
    """
    together = np.concatenate([drops[:, None], random_drops], axis=1)
    away = np.abs(together - together.mean(1, keepdims=True))
    alone = (away >= away[:, :1] - _ROUNDING).mean(1)
    return holm(alone)
