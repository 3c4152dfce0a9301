"""The graph of any network: which of its units are nodes, and the blocks of weights between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

import numpy as np
from torch import Tensor

from ..errors import ShapeError, SpecError, unknown_name
from .graph import Block, Floats, Group, Indices, NetworkGraph
from .layers import Norm, Reading, Units, WeightedLayer
from .read import AnyNetwork, read_network

Convention: TypeAlias = Literal["mlp", "cnn"]
"""Which units are nodes: all of them, or the channels of convolutions only."""


def network_graph(
    network: AnyNetwork,
    example_input: Tensor | None = None,
    *,
    norm: Norm = "l1",
    convention: Convention | None = None,
) -> NetworkGraph:
    """Return a network as a weighted, undirected graph: units or channels, and how strongly they are connected.

    Parameters
    ----------
    network : nn.Module, mapping or sequence
        A module; or a state dictionary whose layers read one another in order; or weight matrices
        ``[outputs, inputs]`` (kernels ``[outputs, inputs, height, width]``), first layer first.
    example_input : Tensor, optional
        A batch of one or more inputs for a module, of which only the shape counts. A module whose layers with
        weights are ``nn.Linear`` and ``nn.BatchNorm1d`` can do without.
    norm : {"l1", "l2", "induced"}
        Strength of a connection between two channels: the sum of the absolute entries of the kernel, the root of
        the sum of their squares, or the largest sum of absolute entries in a column of the kernel. Between
        two units of dense layers it is the absolute weight.
    convention : {"mlp", "cnn"}, optional
        Which units are nodes. "mlp": all, inputs and outputs too. "cnn": the channels that convolutions make; the
        input and dense layers are left out. By default "cnn" for networks with convolutions.

    Returns
    -------
    NetworkGraph
        Groups and blocks are named after the modules.

    Raises
    ------
    SpecError
        When the network does something that cannot be followed. The message names it and where it is.
    ShapeError
        When matrices do not fit together, or the network fails on the example.
    DataError
        When weights are not finite.

    Notes
    -----
    A module is run once, in evaluation mode, and comes out unchanged. Biases are ignored, and so is what does not
    contribute to the output.

    *Units that are one.* Tensors that are added share their nodes; so do a gate and what it gates, unless one gate
    serves many channels (then it is no part of them). Such a group is named after the layer that ran first. Each
    entry of the input is a unit, except that entries which the same weights read (the pixels of a channel) are one.

    *Flattened maps.* A dense layer behind a flattened feature map reads each channel through one weight for each place;
    the strength is the norm of all of these (for "induced", their sum).

    *Normalisation.* Batch norm multiplies by ``|γ| / sqrt(variance + eps)``. This is folded into the layer before it,
    also through pooling and ReLU. Where there is not exactly one such layer, or something else reads that layer's
    output as well (after additions and concatenations, in pre-activation networks), it is folded into the inputs of
    the layers that follow; a sum that comes before any layer ends it. Other norms (layer, group, instance) fold in
    ``|γ|`` alone, and a product with a constant tensor (layer scale) folds in its absolute value. In a
    state dictionary eps is taken to be 1e-5.

    *Groups.* A layer in groups is one block. Where it reads or makes a node twice, or some of its units are no nodes,
    each group is a block of its own, and shuffles stay within groups.

    *A layer that is used again* has new nodes each time; its second use is named ``"name#2"``.

    A state dictionary does not tell of additions without weights of their own: pass the module of a residual
    network.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> graph = network_graph(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
    >>> graph
    NetworkGraph(9 nodes in 3 groups, 18 edges)
    >>> [group.name for group in graph.groups]
    ['input', '0', '2']

    >>> class Residual(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.stem, self.inner, self.outer = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1)
    ...     def forward(self, x):
    ...         x = self.stem(x)
    ...         return x + self.outer(self.inner(x).relu())
    >>> [(group.name, group.size) for group in network_graph(Residual(), torch.zeros(1, 3, 9, 9)).groups]
    [('stem', 8), ('inner', 4)]
    """
    if norm not in get_args(Norm):
        raise unknown_name("norm", norm, get_args(Norm))
    if convention is not None and convention not in get_args(Convention):
        raise unknown_name("convention", convention, get_args(Convention))
    return assemble(read_network(network, example_input), norm=norm, convention=convention)


def assemble(reading: Reading, *, norm: Norm, convention: Convention | None) -> NetworkGraph:
    """Return the graph of layers whose inputs and outputs are units.

    Nodes are the units that the convention keeps. Those that are one become one node, in the group of the
    source that made the first of them.
    """
    layers = reading.layers
    for layer in layers:
        layer.check_finite()
    convolutional = any(layer.convolutional for layer in layers)
    if convention is None:
        convention = "cnn" if convolutional else "mlp"
    if convention == "cnn" and not convolutional:
        raise SpecError(
            "convention 'cnn' keeps the channels of convolutions only, and this network has none; use 'mlp'"
        )
    groups, node_of = number_nodes(reading.units, convention)
    blocks = [block for layer in layers for block in _blocks(layer, node_of, norm)]
    return NetworkGraph(groups, tuple(blocks))


def number_nodes(units: Units, convention: Convention) -> tuple[tuple[Group, ...], Indices]:
    """Return the groups, and the node of each unit: -1 for a unit that is no node."""
    kept = [source for source in units.sources if convention == "mlp" or source.convolutional]
    members = np.concatenate([np.arange(source.first, source.first + source.size) for source in kept])
    # Units are numbered as the network made them, so the first of those that are one is the first member.
    united, first = np.unique(units.find(members), return_index=True)
    owners = members[first]
    rank = np.empty(len(owners), dtype=np.int64)
    rank[np.argsort(owners)] = np.arange(len(owners))
    node_of_united = np.full(len(units), -1)
    node_of_united[united] = rank
    groups = []
    for source in kept:
        size = int(np.count_nonzero((owners >= source.first) & (owners < source.first + source.size)))
        if size:
            groups.append(Group(source.name, size))
    return tuple(groups), node_of_united[units.find(np.arange(len(units)))]


def nodes_of_units(reading: Reading, graph: NetworkGraph) -> Indices:
    """Return the node of a graph for each unit of the network as it was read: -1 for a unit that is no node.

    A last entry says the same of no unit (a constant), whose number is -1.

    Parameters
    ----------
    reading : Reading
        A network.
    graph : NetworkGraph
        Its graph, in any convention; also that of its state dict or of its weight matrices.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 3))
    >>> images = torch.zeros(1, 1, 4, 4)
    >>> reading = read_network(network, images)
    >>> node_of = nodes_of_units(reading, network_graph(network, images))
    >>> [node_of[layer.inputs].tolist() for layer in reading.layers]
    [[-1], [0, 0, 0, 0, 1, 1, 1, 1]]
    """
    convolutional = any(source.convolutional for source in reading.units.sources)
    conventions: list[Convention] = ["mlp", "cnn"] if convolutional else ["mlp"]
    numberings = [number_nodes(reading.units, convention) for convention in conventions]
    for own, node_of in numberings:
        if own == graph.groups:
            return np.append(node_of, -1)
    sizes = [group.size for group in graph.groups]
    for own, node_of in numberings:
        if [group.size for group in own] == sizes:
            return np.append(
                node_of, -1
            )  # a graph of the network's matrices, which have no names, or of its state dict
    whole = numberings[0][0]
    other = next((group for group in graph.groups if group not in whole), graph.groups[-1])
    raise ShapeError(
        f"the clusters are not those of this network: it has no layer {other.name!r} with {other.size} units, but "
        f"{', '.join(f'{group.name!r} with {group.size}' for group in whole)[:200]}"
    )


def _blocks(layer: WeightedLayer, node_of: Indices, norm: Norm) -> Iterator[Block]:
    outputs = node_of[layer.outputs]
    inputs = np.where(layer.inputs < 0, -1, node_of[layer.inputs])
    if (outputs < 0).all() or (inputs < 0).all():
        return
    weights = layer.strengths(norm)
    if layer.groups == 1:
        yield _block(layer.name, outputs, inputs, weights, norm)
    elif _all_different(outputs) and _all_different(inputs):
        yield Block(layer.name, outputs, inputs, weights, layer.groups)
    else:
        # Groups without some of their units, or with some merged, need not be equally large, and a node that two
        # groups read cannot be in one block twice: each group is a block of its own.
        for rows, columns in zip(
            np.split(np.arange(len(outputs)), layer.groups),
            np.split(np.arange(len(inputs)), layer.groups),
            strict=True,
        ):
            if (outputs[rows] >= 0).any() and (inputs[columns] >= 0).any():
                part = weights[np.ix_(rows, columns)]
                yield _block(layer.name, outputs[rows], inputs[columns], part, norm)


def _all_different(nodes: Indices) -> bool:
    """Whether all units are nodes, and no two of them the same."""
    return bool((nodes >= 0).all()) and len(np.unique(nodes)) == len(nodes)


def _block(name: str, outputs: Indices, inputs: Indices, weights: Floats, norm: Norm) -> Block:
    """Return a block in which each node appears once."""
    inputs, weights = _merge(inputs, weights, norm)
    outputs, transposed = _merge(outputs, weights.T, norm)
    return Block(name, outputs, inputs, np.ascontiguousarray(transposed.T))


def _merge(nodes: Indices, weights: Floats, norm: Norm) -> tuple[Indices, Floats]:
    """Return each node once, without -1, and the norm of its columns: their sum, or for l2 their root sum square."""
    if (nodes < 0).any():
        nodes, weights = nodes[nodes >= 0], weights[:, nodes >= 0]
    if len(np.unique(nodes)) == len(nodes):
        return nodes, weights
    order = np.argsort(nodes, kind="stable")
    once, starts = np.unique(nodes[order], return_index=True)
    columns = weights[:, order]
    if norm == "l2":
        return once, np.sqrt(np.add.reduceat(columns**2, starts, axis=1))
    return once, np.add.reduceat(columns, starts, axis=1)
