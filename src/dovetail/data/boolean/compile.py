"""From formulas to a function graph: names, order, and what each operator means."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Collection, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Literal, TypeAlias

from ...errors import SpecError
from .formula import ALLOWED, Formula, shortened
from .graph import FALSE, TRUE, FunctionGraph, GraphBuilder, Signal
from .table import MAX_INPUTS, check_size

_Operator: TypeAlias = Literal["and", "or", "xor", "not"]

_OPERATORS: dict[type[ast.AST], _Operator] = {
    ast.BitAnd: "and",
    ast.And: "and",
    ast.BitOr: "or",
    ast.Or: "or",
    ast.BitXor: "xor",
    ast.Invert: "not",
    ast.Not: "not",
}
_INPUTS = {f"x{number}": number for number in range(1, MAX_INPUTS + 1)}


def graph_of(formulas: Sequence[Formula]) -> FunctionGraph:
    """Return the function graph that formulas describe, whatever order they come in.

    Examples
    --------
    >>> from dovetail.data.boolean.formula import read_formulas
    >>> graph = graph_of(read_formulas(["y1 = a | x3", "a = x1 & x2"]))
    >>> list(graph.predecessors("y1")), graph.nodes["g1"]["gate"], graph.nodes["g2"]["gate"]
    (['g2'], 'and', 'or')
    """
    by_target = _by_target(formulas)
    names = {target: _names_in(formula, by_target) for target, formula in by_target.items()}
    order = _in_order(by_target, names)
    inputs = max(_INPUTS.get(name, 0) for name in order)
    outputs = _outputs(by_target)
    check_size("formulas", inputs, len(outputs))
    builder = GraphBuilder()
    signals = {name: Signal(name) for name, number in _INPUTS.items() if number <= inputs}
    for name in order:
        if name not in _INPUTS:
            signals[name] = _signal_of(by_target[name].expression, signals, builder)
    return builder.graph(inputs, [signals[name] for name in outputs])


def _by_target(formulas: Sequence[Formula]) -> dict[str, Formula]:
    found: dict[str, Formula] = {}
    for formula in formulas:
        target = formula.target
        if keyword.iskeyword(target):
            raise formula.error(f"{target!r} is a word of Python and cannot be defined")
        if re.fullmatch("x[0-9]+", target):
            raise formula.error(f"{shortened(target)!r} is an input and cannot be defined; use another name")
        if target in found:
            raise formula.error(
                f"{shortened(target)!r} is defined already, by formula {found[target].number}"
            )
        found[target] = formula
    return found


def _in_order(by_target: Mapping[str, Formula], names: Mapping[str, Collection[str]]) -> list[str]:
    """Return all names, each after those it is made of."""
    try:
        return list(TopologicalSorter(names).static_order())
    except CycleError as error:
        cycle = error.args[1][:-1]
        shown = ", ".join(shortened(name, 20) for name in cycle[:8])
        raise by_target[cycle[0]].error(f"depends on itself; in the cycle: {shown}") from None


def _outputs(targets: Collection[str]) -> list[str]:
    """Return y1, y2, ... in order."""
    found = {target for target in targets if re.fullmatch("y[0-9]+", target)}
    wanted = [f"y{number}" for number in range(1, len(found) + 1)]
    if not found:
        raise SpecError("the formulas have no output; define y1, as in 'y1 = x1 ^ x2'")
    for name in wanted:
        if name not in found:
            extra = shortened(min(found - set(wanted)))
            raise SpecError(f"outputs are y1, y2, ... without gaps: {extra!r} is defined, but not {name!r}")
    return wanted


def _names_in(formula: Formula, targets: Collection[str]) -> list[str]:
    """Return the names an expression uses, each once, after checking that all in it is allowed."""
    names: dict[str, None] = {}
    for node in ast.walk(formula.expression):
        if isinstance(node, ast.Name):
            if re.fullmatch("x[0-9]+", node.id) and node.id not in _INPUTS:
                raise formula.error(
                    f"{shortened(node.id)!r} is not an input; inputs are x1 to x{MAX_INPUTS}", node
                )
            if node.id not in _INPUTS and node.id not in targets:
                raise formula.error(
                    f"unknown name {shortened(node.id)!r}; define it, or use x1, x2, ...", node
                )
            names[node.id] = None
        elif isinstance(node, ast.expr) and not _is_constant(node) and _operator(node) is None:
            raise formula.error(f"{formula.source(node)!r} is not allowed; {ALLOWED}", node)
    return list(names)


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (0, 1)


def _operator(node: ast.expr) -> _Operator | None:
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp):
        return _OPERATORS.get(type(node.op))
    return None


def _operands(node: ast.expr) -> list[ast.expr]:
    """Return what an operator works on; a chain of the same one is one operator on all its parts."""
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    found: list[ast.expr] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if _operator(part) != _operator(node):
            found.append(part)
        elif isinstance(part, ast.BinOp):
            waiting += [part.right, part.left]
        elif isinstance(part, ast.BoolOp):
            waiting += reversed(part.values)
    return found


def _signal_of(expression: ast.expr, names: Mapping[str, Signal], builder: GraphBuilder) -> Signal:
    # A stack in place of recursion: the depth of an expression is the writer's choice.
    done: dict[ast.expr, Signal] = {}
    waiting = [expression]
    while waiting:
        node = waiting[-1]
        operator = _operator(node)
        operands = [] if operator is None else _operands(node)
        missing = [operand for operand in operands if operand not in done]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        signals = [done[operand] for operand in operands]
        if isinstance(node, ast.Name):
            done[node] = names[node.id]
        elif isinstance(node, ast.Constant):
            done[node] = TRUE if node.value else FALSE
        elif operator == "not":
            done[node] = ~signals[0]
        elif operator == "xor":
            done[node] = builder.xor(signals)
        elif operator is not None:
            done[node] = builder.gate(operator, signals)
    return done[expression]
