"""The graph of any network: which of its units are nodes, and the blocks of weights between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ..errors import ShapeError, SpecError, unknown_name
from .graph import Block, Floats, Group, Head, Indices, NetworkGraph
from .layers import Norm, Reading, Units, WeightedLayer
from .read import AnyNetwork, read_network
from .selection import part_of
from .streams import through_streams

Convention: TypeAlias = Literal["mlp", "cnn"]
"""Which units are nodes: all of them, or the channels of convolutions only."""

Residual: TypeAlias = Literal["nodes", "through"]
"""What becomes of units that several layers add to: they are nodes, or connections pass through them."""


def network_graph(
    network: AnyNetwork,
    example_input: Tensor | None = None,
    *,
    norm: Norm = "l1",
    convention: Convention | None = None,
    residual: Residual = "nodes",
    layers: Sequence[str] | None = None,
    units: Sequence[str] | None = None,
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
        input and dense layers are left out. By default "cnn" for networks with convolutions, but not for those with
        attention or recurrent layers, where convolutions are the lesser part.
    residual : {"nodes", "through"}
        What becomes of a residual stream, the units that several layers add to. "nodes": they are nodes. "through":
        they are not; what writes into the stream is connected with what reads it later.
    layers, units : sequence of str, optional
        Only a part of the network: all nodes of the layers that are named (``"encoder.*"`` names several), and the
        units that are, by number (``"fc1:0-15,40"``) or as a head of attention (``"attn head 3"``).

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

    *A layer that is used again* has new nodes each time; its second use is named ``"name#2"``. Its weights stay the
    same in shuffled copies.

    *Attention.* Values pass on the units that they are. A query and its key are one node, which nothing reads; what
    belongs to a head is in `heads`. *Tokens* that are embedded are nodes, a word each. *Recurrent layers* have a node
    for each hidden unit, at all steps the same, with all its gates. Dense layers that mix the *places* of units, with
    the same weights for all, pass units on.

    *Loops.* A unit's connection with itself is left out.

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
    if residual not in get_args(Residual):
        raise unknown_name("residual", residual, get_args(Residual))
    reading = read_network(network, example_input)
    graph = assemble(reading, norm=norm, convention=convention, residual=residual)
    return graph if layers is None and units is None else part_of(graph, layers or (), units or ())


def assemble(
    reading: Reading, *, norm: Norm, convention: Convention | None, residual: Residual = "nodes"
) -> NetworkGraph:
    """Return the graph of layers whose inputs and outputs are units.

    Nodes are the units that the convention keeps. Those that are one become one node, in the group of the
    source that made the first of them. Those of residual streams may be passed through.
    """
    layers = reading.layers
    for layer in layers:
        layer.check_finite()
    convolutional = any(layer.convolutional for layer in layers)
    if convention is None:
        # The patches of a vision transformer are made by a convolution, which does not make it a CNN.
        mostly = convolutional and not reading.heads and not any(layer.recurrent for layer in layers)
        convention = "cnn" if mostly else "mlp"
    if convention == "cnn" and not convolutional:
        raise SpecError(
            "convention 'cnn' keeps the channels of convolutions only, and this network has none; use 'mlp'"
        )
    streams = reading.units.streams() if residual == "through" else None
    if streams is not None and not streams.any():
        streams = None
    groups, node_of = number_nodes(reading.units, convention, without=streams)
    blocks = [block for layer in layers for block in _blocks(layer, node_of, norm)]
    blocks = list(tied(layers, blocks))
    if streams is not None:
        paths = through_streams(reading, streams, norm)
        blocks += [
            without_loops(
                _block(path.name, node_of[path.outputs], _nodes(path.inputs, node_of), path.weights, norm)
            )
            for path in paths
        ]
    heads = []
    for head in reading.heads:
        nodes = [node_of[units] for units in (head.queries, head.keys, head.values)]
        if all((role >= 0).all() for role in nodes):
            heads.append(Head(head.name, *(np.unique(role) for role in nodes)))
    return NetworkGraph(groups, tuple(blocks), tuple(heads), node_of)


def number_nodes(
    units: Units, convention: Convention, *, without: NDArray[np.bool_] | None = None
) -> tuple[tuple[Group, ...], Indices]:
    """Return the groups, and the node of each unit: -1 for a unit that is no node."""
    kept = [source for source in units.sources if convention == "mlp" or source.convolutional]
    members = np.concatenate([np.arange(source.first, source.first + source.size) for source in kept])
    if without is not None:
        members = members[~without[members]]
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
    if graph.of_units is not None and len(graph.of_units) == len(reading.units):
        return np.append(graph.of_units, -1)
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
    outputs, inputs = node_of[layer.outputs], _nodes(layer.inputs, node_of)
    if (outputs < 0).all() or (inputs < 0).all():
        return
    whole = Block(layer.name, outputs, inputs, layer.strengths(norm), layer.groups)
    if layer.groups == 1:
        yield without_loops(_block(layer.name, outputs, inputs, whole.weights, norm))
    elif _all_different(outputs) and _all_different(inputs):
        yield without_loops(whole)
    else:
        # Groups without some of their units, or with some merged, need not be equally large, and a node that two
        # groups read cannot be in one block twice: each group is a block of its own.
        for part in whole.parts():
            if (part.outputs >= 0).any() and (part.inputs >= 0).any():
                yield without_loops(_block(layer.name, part.outputs, part.inputs, part.weights, norm))


def _nodes(units: Indices, node_of: Indices) -> Indices:
    """Return the nodes of units, -1 where there is no unit."""
    return np.where(units < 0, -1, node_of[units])


def without_loops(block: Block) -> Block:
    """Return a block in which no node is connected with itself: that would hold nothing together."""
    if not len(np.intersect1d(block.outputs, block.inputs)):
        return block
    return replace(block, weights=np.where(block.outputs[:, None] == block.inputs, 0, block.weights))


def tied(layers: Sequence[WeightedLayer], blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks; those whose weights are the ones of a block before, as they are or turned over, say so."""
    by_name = {layer.name: layer.weight for layer in layers}
    first: dict[tuple[int, int], Block] = {}
    for block in blocks:
        weight = by_name[block.name]
        key = weight.data_ptr(), weight.numel()
        before = first.setdefault(key, block)
        own, other = weight, by_name[before.name]
        as_it_is = own.shape == other.shape and own.stride() == other.stride()
        turned = own.dim() == 2 and own.shape == other.shape[::-1] and own.stride() == other.stride()[::-1]
        shape = before.weights.shape[::-1] if turned and not as_it_is else before.weights.shape
        if before is block or not (as_it_is or turned) or block.weights.shape != shape:
            yield block
        else:
            yield replace(block, tied_to=before.name, turned=not as_it_is)


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
