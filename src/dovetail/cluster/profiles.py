"""Profiles: which classes the removal of each unit, or of each head of attention, costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ..data.split import Split
from ..errors import DataError, SpecError, unknown_name
from ..graph.graph import Floats, Indices, NetworkGraph
from ..graph.network_graph import network_graph, nodes_of_units
from ..graph.read import read_network
from ..graph.trace import plain_module
from ..io.fields import nan_to_null
from ..population.progress import ProgressBar
from ..result import Result
from .ablation import check_fits, log_likelihood, scores_by_class
from .lesions import check_measurable, read_by_layers

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "dovetail.profiles/1"

Removed = Literal["units", "heads"]

_NOTHING = 1e-9
"""Nats; a unit whose removal changes the loss on no class by more does nothing."""


def lesion_profiles(
    network: nn.Module,
    split: Split,
    *,
    graph: NetworkGraph | None = None,
    remove: Removed = "units",
    layers: Sequence[str] | None = None,
    batch_size: int | None = None,
    progress: bool = True,
) -> Profiles:
    """Measure on every class how much the loss of a network rises without each of its units, one at a time.

    A unit is taken out as by `lesion`: what every layer reads from it is 0. Outputs and inputs of the network are never
    taken out. The loss is cross-entropy: unlike accuracy it moves with every unit, however little that does.

    Parameters
    ----------
    network : nn.Module
        Maps a batch to logits. It is measured on the device where it is.
    split : Split
        Samples and their classes, such as ``data.test``; at least two of each class that occurs.
    graph : NetworkGraph, optional
        Whose units to take out, where that is not what `network_graph` makes of the network by default.
    remove : str
        ``"units"``: each unit of a dense layer, or channel of a convolution. ``"heads"``: each head of attention whole,
        by what it passes on.
    layers : sequence of str, optional
        Only units of these groups of the graph.
    batch_size : int, optional
        Samples in one pass, counted once for each of the variants that are measured together.
    progress : bool
        Show a progress bar on terminals.

    Returns
    -------
    Profiles
        A row for each unit or head.

    Examples
    --------
    >>> import dovetail as dt
    >>> data, network = dt.load("digits"), dt.build_net("mlp:16", (1, 8, 8), 10, seed=0)
    >>> profiles = dt.lesion_profiles(network, data.test, progress=False)
    >>> profiles.costs.shape, profiles.names[0]
    ((16, 10), 'dense1 0')
    """
    check_measurable(network, split, batch_size=batch_size)
    if remove not in get_args(Removed):
        raise unknown_name("thing to remove", remove, get_args(Removed))
    network = plain_module(network)
    check_fits(network, split)
    if graph is None:
        graph = network_graph(network, split.x[:2])
    reading = read_network(network, split.x[:2])
    node_of = nodes_of_units(reading, graph)
    inner = read_by_layers(reading, node_of, len(graph))
    inner &= np.array([group.name != "input" for group in graph.groups])[graph.group_of]
    names, sets = _sets(graph, remove, layers, inner)
    keep = np.ones((1 + len(sets), len(graph)), dtype=bool)
    for number, nodes in enumerate(sets):
        keep[1 + number, nodes] = False
    classes = torch.nonzero(torch.bincount(split.y.cpu()) > 1).flatten().numpy()
    if len(classes) < 2:
        raise DataError(
            "profiles tell classes apart: there must be two samples at least of each of two classes; this split has "
            f"{len(classes)} such classes"
        )
    losses: list[Floats] = []
    counts: list[Floats] = []
    with ProgressBar("profiles", len(keep) * len(split), show=progress, unit="samples") as bar:
        for half in _halves(split):
            scores, samples = scores_by_class(
                network,
                reading,
                node_of,
                keep,
                half,
                score=log_likelihood,
                rows=batch_size,
                advance=bar.advance,
            )
            losses.append(-scores[:, classes])
            counts.append(samples[classes])
    halves = np.stack([(loss[1:] - loss[0]) / count for loss, count in zip(losses, counts, strict=True)])
    whole = losses[0] + losses[1]
    costs = (whole[1:] - whole[0]) / (counts[0] + counts[1])
    groups = np.array([graph.group_of[nodes[0]] for nodes in sets], dtype=np.int64)
    return Profiles(graph, names, tuple(sets), groups, costs, halves, classes)


def _sets(
    graph: NetworkGraph, remove: Removed, layers: Sequence[str] | None, inner: NDArray[np.bool_]
) -> tuple[tuple[str, ...], list[Indices]]:
    """Return what is taken out: names, and the nodes of each."""
    if isinstance(layers, str):
        raise SpecError(f"layers is a list of names, not one text: [{layers!r}]")
    known = [group.name for group in graph.groups]
    for name in layers or ():
        if name not in known:
            raise unknown_name("layer", name, known)
    wanted = np.array([layers is None or name in layers for name in known])[graph.group_of]
    if remove == "heads":
        if not graph.heads:
            raise SpecError(
                "this network has no heads of attention; remove='units' takes out one unit at a time"
            )
        heads = [head for head in graph.heads if wanted[head.values].all()]
        names = tuple(head.name for head in heads)
        sets = [head.values for head in heads]
    else:
        nodes = np.flatnonzero(inner & wanted)
        names = tuple(f"{known[graph.group_of[node]]} {graph.unit_of[node]}" for node in nodes)
        sets = [np.array([node]) for node in nodes]
    if not sets:
        raise SpecError(
            "there is nothing to take out: of the layers that are named, none is read by another one"
        )
    return names, sets


def _halves(split: Split) -> list[Split]:
    """Return every other sample of each class, and the rest: as much alike as two halves can be."""
    rank = torch.empty(len(split), dtype=torch.long)
    order = torch.argsort(split.y.cpu(), stable=True)
    classes = split.y.cpu()[order]
    first = torch.searchsorted(classes, classes)  # where a class begins
    rank[order] = torch.arange(len(split)) - first
    return [split.where(rank % 2 == half) for half in (0, 1)]


@dataclass(frozen=True, eq=False)
class Profiles(Result):
    """By how much the loss on each class rises without each unit, or each head of attention.

    Made by `lesion_profiles`.

    Attributes
    ----------
    graph : NetworkGraph
        Whose units were taken out.
    names : tuple of str
        Of the units (their layer and number) or heads.
    nodes : tuple of int array
        The nodes that were taken out together.
    groups : int array
        The group of the graph that each is in.
    costs : float array
        Rise of the mean loss in nats, ``[units, classes]``; below 0 where a class is better off without.
    halves : float array
        The same on each half of the samples, ``[2, units, classes]``.
    classes : int array
        The classes that these are: those with two samples or more.
    """

    graph: NetworkGraph
    names: tuple[str, ...]
    nodes: tuple[Indices, ...]
    groups: Indices
    costs: Floats
    halves: Floats
    classes: Indices

    def __repr__(self) -> str:
        return f"Profiles({len(self.names)} removed one at a time, {len(self.classes)} classes, {self._reliability()})"

    def _reliability(self) -> str:
        return f"halves agree by {self.reliability:.2f}"

    @property
    def directions(self) -> Floats:
        """Which classes each costs, whatever it costs in all: rows without their mean, of length 1.

        Not a number for units that cost all classes the same, as those do that do nothing.
        """
        return _directions(self.costs)

    @property
    def reliability(self) -> float:
        """Mean agreement of directions between halves of the samples: 1 if they are certain, 0 if they are noise."""
        one, other = (_directions(half) for half in self.halves)
        both = (one * other).sum(1)
        return float(np.nanmean(both)) if np.isfinite(both).any() else float("nan")

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each unit or head, and a column for each class."""
        import pandas as pd

        frame = pd.DataFrame(self.costs, columns=[int(number) for number in self.classes])
        frame.insert(0, "layer", [self.graph.groups[number].name for number in self.groups])
        return frame.set_axis(pd.Index(self.names, name="removed"), axis=0)

    def to_dict(self) -> dict[str, object]:
        """Return everything but the graph as plain values."""
        return {
            "schema": SCHEMA,
            "names": list(self.names),
            "nodes": [nodes.tolist() for nodes in self.nodes],
            "classes": self.classes.tolist(),
            "costs": nan_to_null(self.costs.tolist()),
            "reliability": nan_to_null(self.reliability),
        }


def _directions(costs: Floats) -> Floats:
    away = costs - costs.mean(1, keepdims=True)
    length = np.linalg.norm(away, axis=1, keepdims=True)
    found: Floats = np.divide(away, length, out=np.full_like(away, np.nan), where=length > _NOTHING)
    return found
