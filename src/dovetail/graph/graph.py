"""The graph of a network: groups of units as nodes, and blocks of weights between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """Units that belong together: the outputs of a layer, or of all layers whose outputs are added.

    Attributes
    ----------
    name : str
        The layer that makes them (the first of several), or ``"input"``.
    size : int
        Number of units or channels.
    """

    name: str
    size: int


@dataclass(frozen=True)
class Block:
    """The weights by which one layer leads from nodes to nodes.

    Attributes
    ----------
    name : str
        The layer.
    outputs, inputs : int array
        The nodes at its outputs and inputs.
    weights : float array
        How strongly they are connected, at least 0, ``[outputs, inputs]``.
    groups : int
        Of a grouped convolution: outputs and inputs fall into this many equal runs, and only runs of the same number
        are connected. What is outside is no weight that happens to be 0, and no shuffle puts one there.
    tied_to : str, optional
        The block before this one that has the same weights, as where a network reads and writes tokens with one matrix:
        in shuffled copies they stay the same.
    turned : bool
        Whether its weights are those of that block turned over, inputs for outputs.
    """

    name: str
    outputs: Indices
    inputs: Indices
    weights: Floats
    groups: int = 1
    tied_to: str | None = None
    turned: bool = False

    def parts(self) -> Iterator[Block]:
        """Yield the groups of a block, each as a block of its own."""
        for rows, columns in zip(
            np.split(np.arange(len(self.outputs)), self.groups),
            np.split(np.arange(len(self.inputs)), self.groups),
            strict=True,
        ):
            yield Block(
                self.name, self.outputs[rows], self.inputs[columns], self.weights[np.ix_(rows, columns)]
            )


@dataclass(frozen=True, eq=False)
class Head:
    """One head of attention.

    Attributes
    ----------
    name : str
        The module, and the number of the head in it.
    queries, keys : int array
        The units (in a graph, nodes) whose products say where the head looks; they gate, and nothing reads them.
    values : int array
        Those that it passes on.
    """

    name: str
    queries: Indices
    keys: Indices
    values: Indices


@dataclass(frozen=True, eq=False)
class NetworkGraph:
    """A network as a weighted, undirected graph.

    Nodes are numbered group by group. Units without any connection are nodes too; clustering leaves them out.

    Attributes
    ----------
    groups : tuple of Group
        What the nodes are, in order.
    blocks : tuple of Block
        The layers between them.
    heads : tuple of Head
        The heads of attention, by their nodes.
    of_units : int array, optional
        The node of each unit of the network as it was read, -1 for units that are no nodes.
    numbers : int array, optional
        The number of each node within its layer, where only some units of layers are nodes.

    Examples
    --------
    >>> import dovetail as dt
    >>> graph = dt.network_graph([[[1.0, 0.0], [0.5, 2.0], [0.0, 0.0]]])
    >>> graph
    NetworkGraph(5 nodes in 2 groups, 3 edges)
    >>> graph.adjacency.toarray()[0]
    array([0. , 0. , 1. , 0.5, 0. ])
    """

    groups: tuple[Group, ...]
    blocks: tuple[Block, ...]
    heads: tuple[Head, ...] = ()
    of_units: Indices | None = None
    numbers: Indices | None = None

    def __len__(self) -> int:
        """Return the number of nodes."""
        return sum(group.size for group in self.groups)

    def __repr__(self) -> str:
        edges = sparse.triu(self.adjacency).nnz
        return f"NetworkGraph({len(self)} nodes in {len(self.groups)} groups, {edges} edges)"

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """The symmetric matrix of connections, without explicit zeros."""
        return self.with_weights([block.weights for block in self.blocks])

    @cached_property
    def group_of(self) -> Indices:
        """The group of each node, as an index into ``groups``."""
        return np.repeat(np.arange(len(self.groups)), [group.size for group in self.groups])

    @cached_property
    def unit_of(self) -> Indices:
        """The number of each node within its layer: its unit or channel."""
        if self.numbers is not None:
            return self.numbers
        return (
            np.concatenate([np.arange(group.size) for group in self.groups]) if self.groups else np.arange(0)
        )

    def with_weights(self, weights: Sequence[Floats]) -> sparse.csr_array:
        """Return the adjacency that other weights of the blocks would give."""
        total = len(self)
        rows, columns, values = [], [], []
        for block, matrix in zip(self.blocks, weights, strict=True):
            at = np.nonzero(matrix)
            rows.append(block.outputs[at[0]].astype(np.int32))  # what scikit-learn takes
            columns.append(block.inputs[at[1]].astype(np.int32))
            values.append(matrix[at])
        one_way = sparse.coo_array(
            (
                np.concatenate(values) if values else np.zeros(0),
                (np.concatenate(rows) if rows else [], np.concatenate(columns) if columns else []),
            ),
            shape=(total, total),
        ).tocsr()
        return sparse.csr_array(one_way + one_way.T)
