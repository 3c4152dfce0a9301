"""From layers and the units between them to nodes and blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np

from ..errors import SpecError
from .structure import Block, Floats, Group, Indices, NetworkGraph
from .units import Units
from .weighted import Norm, WeightedLayer

Convention: TypeAlias = Literal["mlp", "cnn"]


def assemble(
    layers: Sequence[WeightedLayer], units: Units, *, norm: Norm, convention: Convention | None
) -> NetworkGraph:
    """Return the graph of layers whose inputs and outputs are units.

    Nodes are the units that the convention keeps. Those that are one become one node, in the group of the
    source that made the first of them.
    """
    for layer in layers:
        layer.check_finite()
    convolutional = any(layer.convolutional for layer in layers)
    if convention is None:
        convention = "cnn" if convolutional else "mlp"
    if convention == "cnn" and not convolutional:
        raise SpecError(
            "convention 'cnn' keeps the channels of convolutions only, and this network has none; use 'mlp'"
        )
    groups, node_of = number_nodes(units, convention)
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
