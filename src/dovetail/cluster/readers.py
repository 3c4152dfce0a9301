"""Who reads what in a network: the layers, and the node that each of their inputs comes from."""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

import numpy as np
from torch import Tensor, nn

from ..errors import ShapeError
from ..graph.graph import Group, Indices, NetworkGraph
from ..graph.network_graph import Convention, number_nodes
from ..graph.rules import follow
from ..graph.trace import record

Readers: TypeAlias = dict[str, list[Indices]]
"""For each layer, by its path in the network, and each of its uses: the node of every input, -1 for none."""


def readers_of(network: nn.Module, example_input: Tensor, graph: NetworkGraph) -> Readers:
    """Return the layers of a network with the nodes of a graph at their inputs.

    All layers count, also dense layers that the convention for convolutional networks leaves out of the graph.

    Parameters
    ----------
    network : nn.Module
        A network.
    example_input : Tensor
        A batch that it takes.
    graph : NetworkGraph
        Its graph, in any convention; also that of its state dict or of its weight matrices.

    Examples
    --------
    >>> import torch
    >>> import dovetail as dt
    >>> network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 3))
    >>> images = torch.zeros(1, 1, 4, 4)
    >>> readers = readers_of(network, images, dt.network_graph(network, images))
    >>> readers["0"][0].tolist(), readers["2"][0].tolist()
    ([-1], [0, 0, 0, 0, 1, 1, 1, 1])
    """
    found = follow(record(network, example_input))
    conventions: list[Convention] = ["mlp"]
    if any(source.convolutional for source in found.units.sources):
        conventions.append("cnn")
    numberings = [number_nodes(found.units, convention) for convention in conventions]
    node_of = _fitting(graph.groups, numberings)
    readers: Readers = defaultdict(list)
    for layer in found.layers:
        # A second use of a layer is called NAME#2.
        readers[layer.name.partition("#")[0]].append(np.where(layer.inputs < 0, -1, node_of[layer.inputs]))
    return dict(readers)


def _fitting(groups: tuple[Group, ...], numberings: list[tuple[tuple[Group, ...], Indices]]) -> Indices:
    """Return the node of each unit by the convention that gives these groups."""
    for own, node_of in numberings:
        if own == groups:
            return node_of
    sizes = [group.size for group in groups]
    for own, node_of in numberings:
        if [group.size for group in own] == sizes:
            return node_of  # a graph of the network's matrices, which have no names, or of its state dict
    whole = numberings[0][0]
    other = next((group for group in groups if group not in whole), groups[-1])
    raise ShapeError(
        f"the clusters are not those of this network: it has no layer {other.name!r} with {other.size} units, but "
        f"{', '.join(f'{group.name!r} with {group.size}' for group in whole)[:200]}"
    )
