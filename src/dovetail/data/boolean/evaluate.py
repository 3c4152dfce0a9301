"""Compute what a function graph says, for many rows at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import networkx as nx
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...errors import DataError, ShapeError, SpecError
from .graph import FunctionGraph

_Packed = npt.NDArray[np.uint8]
"""One bit per row, eight rows to a byte."""

_BLOCK = 2**16
"""Rows at a time: keeps the values of thousands of gates in tens of megabytes."""


def evaluate_graph(graph: FunctionGraph, x: Tensor) -> Tensor:
    """Return the outputs of a function graph for rows of input bits.

    Parameters
    ----------
    graph : networkx.DiGraph
        A function graph with inputs x1, x2, ... and outputs y1, y2, ..., as in ``BooleanTask.graph``.
    x : Tensor
        Rows of 0/1, ``[rows, inputs]``, x1 in the first column.

    Returns
    -------
    Tensor
        Rows of 0/1, ``[rows, outputs]``, float32, on the device of ``x``.

    Examples
    --------
    >>> from dovetail.data.boolean import boolean_task
    >>> task = boolean_task("y1 = x1 & ~x2", "y2 = x1 ^ x2")
    >>> evaluate_graph(task.graph, torch.tensor([[1, 0], [1, 1]])).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    inputs, outputs = _numbered(graph, "input", "x"), _numbered(graph, "output", "y")
    if x.dim() != 2 or x.shape[1] != len(inputs):
        raise ShapeError(
            f"the graph has {len(inputs)} inputs: x must be [rows, {len(inputs)}], not {tuple(x.shape)}"
        )
    if not bool(((x == 0) | (x == 1)).all()):
        raise DataError("x must hold only 0 and 1")
    try:
        order = [node for node in nx.topological_sort(graph) if node not in inputs]
    except nx.NetworkXUnfeasible as error:
        raise SpecError("the function graph has a cycle; gates may only depend on earlier ones") from error
    y = torch.empty(len(x), len(outputs))
    for start in range(0, len(x), _BLOCK):
        block = x[start : start + _BLOCK].to("cpu", torch.bool).numpy()
        values = dict(zip(inputs, np.packbits(block.T, axis=1), strict=True))
        for node in order:
            values[node] = _node_value(graph, node, values)
        bits = np.unpackbits(np.stack([values[node] for node in outputs]), axis=1, count=len(block))
        y[start : start + _BLOCK] = torch.from_numpy(bits.T)
    return y.to(x.device)


def _node_value(graph: FunctionGraph, node: str, values: Mapping[str, _Packed]) -> _Packed:
    gate = graph.nodes[node].get("gate")
    operands = [
        np.bitwise_not(values[source]) if graph.edges[source, node].get("negated", False) else values[source]
        for source in graph.predecessors(node)
    ]
    if gate == "const" and not operands:
        return np.full_like(values["x1"], 255)
    if gate == "id" and len(operands) == 1:
        return operands[0]
    if gate in ("and", "or") and operands:
        return reduce(np.bitwise_and if gate == "and" else np.bitwise_or, operands)
    raise SpecError(
        f"node {node!r} has gate {gate!r} on {len(operands)} edges; allowed are "
        "'and' and 'or' on one or more, 'id' on one, 'const' on none"
    )


def _numbered(graph: FunctionGraph, kind: str, letter: str) -> list[str]:
    """Return the nodes of a kind in the order of their numbers."""
    found = {node for node, data in graph.nodes(data=True) if data.get("kind") == kind}
    wanted = [f"{letter}{number}" for number in range(1, len(found) + 1)]
    if not found or found != set(wanted):
        raise SpecError(
            f"the {kind} nodes of a function graph are {letter}1, {letter}2, ..., not {sorted(found)}"
        )
    return wanted
