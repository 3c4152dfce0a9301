"""Formulas: text cut into allowed tokens, read by Python's own grammar, never run, and made a function graph."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import count
from typing import Literal, TypeAlias

from ...errors import SpecError
from .graph import FALSE, TRUE, FunctionGraph, GraphBuilder, Signal
from .table import MAX_INPUTS, check_size

MAX_CHARACTERS = 10_000
MAX_NESTING = 50
MAX_OPERATORS = 2000
"""In one formula, of ``& | ^``. Python's parser nests once for each; how deep it goes differs between its versions."""

ALLOWED = "allowed are names, 0, 1, True, False, & | ^ ~ and or not, and parentheses"
_TOO_MANY = "too many operators in one formula; name parts of it, as in 'a = x1 & x2'"

_SHAPE = re.compile(r"[ \t]*((?P<target>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*)?(?P<expression>.*)", re.DOTALL)
INPUT = re.compile(r"(?<![\w.:-])x[0-9]+(?![\w.:-])")
"""An input in a formula. No data set has one as a word of its name."""
_TOKEN = re.compile(r"[ \t]+|(?P<word>[A-Za-z0-9_]+)|(?P<sign>[&|^~()])")


@dataclass(frozen=True)
class Formula:
    """One definition, ``target = expression``, and the text it came from."""

    number: int
    text: str
    target: str
    expression: ast.expr
    start: int
    """Where the expression starts in the text."""

    def source(self, node: ast.expr) -> str:
        """Return the text of a part of the expression."""
        return shortened(self.text[self.start + node.col_offset : self.start + (node.end_col_offset or 0)])

    def error(self, problem: str, at: ast.expr | None = None) -> SpecError:
        """Return the error that names this formula and, with ``at``, the column."""
        return _error(self.number, self.text, problem, None if at is None else self.start + at.col_offset)


def read_formulas(texts: Iterable[str]) -> list[Formula]:
    """Read formulas; one text may hold several, on lines of their own or separated by semicolons.

    Where no output has a name, expressions without one are the outputs, in their order.

    Examples
    --------
    >>> [formula.target for formula in read_formulas(["a = x1 & x2; y1 = ~a", "y2 = a | x3"])]
    ['a', 'y1', 'y2']
    >>> [formula.target for formula in read_formulas(["a = x1 & x2; ~a", "a | x3"])]
    ['a', 'y1', 'y2']
    """
    pieces = list(_pieces(texts))
    named = any(re.match(r"[ \t]*y[0-9]+[ \t]*=", text) for text in pieces)
    outputs: Iterator[str] = iter(())
    if not named and INPUT.search(" ".join(pieces)):
        outputs = (f"y{number}" for number in count(1))
    return [
        _read(number, text, None if "=" in text else next(outputs, None))
        for number, text in enumerate(pieces, 1)
    ]


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    length = 0
    for text in texts:
        length += len(text)
        if length > MAX_CHARACTERS:
            raise SpecError(f"the formulas are too long: {MAX_CHARACTERS:,} characters are allowed in all")
        pieces = [piece for piece in re.split(r"[;\r\n]", text) if piece.strip()]
        if not pieces:
            raise SpecError("an empty formula; write one such as 'y1 = x1 ^ x2', or a task such as [4,2,4]")
        yield from pieces


def _read(number: int, text: str, output: str | None) -> Formula:
    """Read a formula; ``output`` is what it defines if it has no name for it, and may have none."""
    match = _SHAPE.fullmatch(text)
    assert match is not None  # whatever there is
    target = match["target"] or output
    if target is None:
        raise _error(
            number, text, "a formula is 'name = expression', such as 'y1 = x1 ^ x2'; a task is [4,2,4]"
        )
    start, expression = match.start("expression"), match["expression"].rstrip(" \t")
    _check_tokens(number, text, start, expression)
    try:
        tree = ast.parse(expression, mode="eval").body
    except SyntaxError as error:
        at = start + min(max((error.offset or 1) - 1, 0), len(expression))
        raise _error(number, text, f"this is not an expression; {ALLOWED}", at) from None
    except (RecursionError, MemoryError):
        raise _error(number, text, _TOO_MANY) from None
    return Formula(number, text, target, tree, start)


def _check_tokens(number: int, text: str, start: int, expression: str) -> None:
    """Refuse what may not occur in an expression, and nesting that could exhaust Python's parser."""
    at, operators, open_negations = 0, 0, [0]
    while at < len(expression):
        token = _TOKEN.match(expression, at)
        if token is None:
            raise _error(number, text, f"{expression[at]!r} is not allowed; {ALLOWED}", start + at)
        word, sign = token["word"], token["sign"]
        if word and word[0].isdigit() and word not in ("0", "1"):
            raise _error(number, text, f"{shortened(word)!r} is neither a name nor 0 or 1", start + at)
        if word == "not" or sign == "~":
            open_negations[-1] += 1
        elif sign == "(":
            open_negations.append(0)
        elif sign == ")" and len(open_negations) > 1:
            open_negations.pop()
            open_negations[-1] = 0
        elif word:
            open_negations[-1] = 0
        if len(open_negations) + sum(open_negations) > MAX_NESTING:
            raise _error(number, text, f"nested more than {MAX_NESTING} deep; name parts of it", start + at)
        operators += sign in ("&", "|", "^")
        if operators > MAX_OPERATORS:
            raise _error(number, text, _TOO_MANY)
        at = token.end()


def _error(number: int, text: str, problem: str, at: int | None = None) -> SpecError:
    column = "" if at is None else f", column {at + 1}"
    return SpecError(f"formula {number} ({shortened(text.strip())!r}){column}: {problem}")


def shortened(text: str, most: int = 60) -> str:
    """Return a text as it can stand in a message."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


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
    >>> from dovetail.data.boolean.formulas import read_formulas
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
