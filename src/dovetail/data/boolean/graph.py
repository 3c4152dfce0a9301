"""Function graphs: Boolean functions as graphs of and/or gates with negated edges, made and computed.

References
----------
.. [1] Patil, Michael, Dovrolis, "Neural Sculpting: Uncovering hierarchically modular task structure in neural
   networks through pruning and network analysis", NeurIPS 2023, section 1.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...errors import DataError, ShapeError, SpecError

if TYPE_CHECKING:
    import networkx as nx  # slow to import, and most data needs none

FunctionGraph: TypeAlias = "nx.DiGraph[str]"
"""Nodes have ``kind`` ("input", "gate" or "output") and, unless inputs, ``gate``; edges have ``negated``."""


class Signal(NamedTuple):
    """What a node carries, or its negation."""

    node: str
    negated: bool = False

    def __invert__(self) -> Signal:
        return Signal(self.node, not self.negated)


TRUE = Signal("one")
FALSE = ~TRUE


class GraphBuilder:
    """Makes gates, each only once: the same gate on the same signals is the same node.

    Gates that decide nothing (on one signal, on a constant, on ``x`` and ``~x``) are never made.

    Examples
    --------
    >>> builder = GraphBuilder()
    >>> a, b = Signal("x1"), Signal("x2")
    >>> builder.gate("and", [a, b]) == builder.gate("and", [b, a, b])
    True
    >>> builder.gate("or", [a, ~a]) == TRUE
    True
    >>> list(builder.graph(2, [~builder.xor([a, b])]))
    ['x1', 'x2', 'g1', 'g2', 'g3', 'y1']
    """

    def __init__(self) -> None:
        self._gates: dict[tuple[Literal["and", "or"], tuple[Signal, ...]], str] = {}

    def gate(self, gate: Literal["and", "or"], operands: Iterable[Signal]) -> Signal:
        """Return the signal of an and/or gate on any number of operands."""
        neutral = TRUE if gate == "and" else FALSE
        signals = set(operands) - {neutral}
        if ~neutral in signals or any(~signal in signals for signal in signals):
            return ~neutral
        if len(signals) < 2:
            return signals.pop() if signals else neutral
        return Signal(self._gates.setdefault((gate, tuple(sorted(signals))), f"made {len(self._gates)}"))

    def xor(self, operands: Iterable[Signal]) -> Signal:
        """Return the signal of an exclusive or, expanded into and/or gates with negated edges."""
        return reduce(self._xor_of_two, operands, FALSE)

    def _xor_of_two(self, a: Signal, b: Signal) -> Signal:
        # Negations move to the result, so that a ^ b and a ^ ~b share their gates.
        plain_a, plain_b = Signal(a.node), Signal(b.node)
        either = self.gate(
            "or", [self.gate("and", [plain_a, ~plain_b]), self.gate("and", [~plain_a, plain_b])]
        )
        return either if a.negated == b.negated else ~either

    def graph(self, inputs: int, outputs: Iterable[Signal]) -> FunctionGraph:
        """Return the graph of inputs x1, x2, ..., outputs y1, y2, ... and the gates that these depend on."""
        import networkx as nx

        outputs = list(outputs)
        needed = self._needed(outputs)
        graph: FunctionGraph = nx.DiGraph()
        names = {f"x{number}": f"x{number}" for number in range(1, inputs + 1)}
        graph.add_nodes_from(names, kind="input")
        if TRUE.node in needed:
            names[TRUE.node] = TRUE.node
            graph.add_node(TRUE.node, kind="gate", gate="const")
        made = [(node, gate, signals) for (gate, signals), node in self._gates.items() if node in needed]
        for number, (node, gate, signals) in enumerate(made, 1):
            names[node] = f"g{number}"
            _add(graph, names[node], "gate", gate, signals, names)
        for number, signal in enumerate(outputs, 1):
            _add(graph, f"y{number}", "output", "id", [signal], names)
        return graph

    def _needed(self, outputs: Iterable[Signal]) -> set[str]:
        operands = {node: signals for (_, signals), node in self._gates.items()}
        needed: set[str] = set()
        waiting = [signal.node for signal in outputs]
        while waiting:
            node = waiting.pop()
            if node not in needed:
                needed.add(node)
                waiting.extend(signal.node for signal in operands.get(node, ()))
        return needed


def _add(
    graph: FunctionGraph, node: str, kind: str, gate: str, signals: Iterable[Signal], names: Mapping[str, str]
) -> None:
    graph.add_node(node, kind=kind, gate=gate)
    graph.add_edges_from((names[signal.node], node, {"negated": signal.negated}) for signal in signals)


_Packed = npt.NDArray[np.uint8]
"""One bit per row, eight rows to a byte."""

_ROWS_AT_A_TIME = 2**16
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
    import networkx as nx

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
    y = torch.empty(len(x), len(outputs), dtype=torch.float32)
    for start in range(0, len(x), _ROWS_AT_A_TIME):
        block = x[start : start + _ROWS_AT_A_TIME].to("cpu", torch.bool).numpy()
        values = dict(zip(inputs, np.packbits(block.T, axis=1), strict=True))
        for node in order:
            values[node] = _node_value(graph, node, values)
        bits = np.unpackbits(np.stack([values[node] for node in outputs]), axis=1, count=len(block))
        y[start : start + _ROWS_AT_A_TIME] = torch.from_numpy(bits.T)
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
