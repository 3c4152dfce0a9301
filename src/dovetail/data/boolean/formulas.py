"""Formulas: text cut into allowed tokens, read by Python's own grammar, never run, and made a function graph."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from graphlib import CycleError, TopologicalSorter
from itertools import count
from typing import Literal, NamedTuple, TypeAlias

from ...errors import SpecError
from .graph import FALSE, TRUE, FunctionGraph, GraphBuilder, Signal
from .table import MAX_INPUTS, MAX_OUTPUTS, check_size

MAX_CHARACTERS = 10_000
MAX_NESTING = 50
MAX_OPERATORS = 2000
"""In one formula, of ``& | ^``. Python's parser nests once for each; how deep it goes differs between its versions."""

ALLOWED = "allowed are names, 0, 1, True, False, & | ^ ~ and or not, and parentheses"
_TOO_MANY = "too many operators in one formula; name parts of it, as in 'a = x1 & x2'"

_SHAPE = re.compile(r"[ \t]*((?P<target>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*)?(?P<expression>.*)", re.DOTALL)
INPUT = re.compile(r"(?<![\w.:-])x[0-9]+(?![\w.:-])")
"""An input in a formula. No data set has one as a word of its name."""
_VECTOR = re.compile(r"(?<=[A-Za-z_])\[([0-9]{1,3})\.\.([0-9]{1,3})\]")
"""The numbers of a vector's bits, ``a[0..3]`` for a0 to a3, behind its name."""
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
        for piece in pieces:
            yield from _bit_by_bit(piece)


def _bit_by_bit(text: str) -> Iterator[str]:
    """Yield a formula of vectors as one for each bit; others as they are.

    Examples
    --------
    >>> list(_bit_by_bit("s[0..1] = a[0..1] ^ b[1..0]"))
    ['s0 = a0 ^ b1', 's1 = a1 ^ b0']
    """
    ranges = [(int(first), int(last)) for first, last in _VECTOR.findall(text)]
    if not ranges:
        yield text
        return
    sizes = {abs(last - first) + 1 for first, last in ranges}
    if len(sizes) > 1 or max(sizes) > MAX_OUTPUTS:
        raise SpecError(
            f"the vectors in {shortened(text.strip())!r} have {sorted(sizes)} bits; in one formula all have as many, "
            f"up to {MAX_OUTPUTS}"
        )
    for place in range(sizes.pop()):
        yield _VECTOR.sub(partial(_number_of_bit, place), text)


def _number_of_bit(place: int, vector: re.Match[str]) -> str:
    first, last = int(vector[1]), int(vector[2])
    return str(first + place if first <= last else first - place)


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
_NUMBERED, _OUTPUT = re.compile("[xy][0-9]+"), re.compile("y[0-9]+")
_INPUTS = {f"x{number}": number for number in range(1, MAX_INPUTS + 1)}


class Ends(NamedTuple):
    """The names of the inputs and of the outputs of formulas, in order.

    Examples
    --------
    >>> ends_of(read_formulas(["s = a ^ b; carry = a & b"]))
    Ends(inputs=('a', 'b'), outputs=('s', 'carry'))
    >>> ends_of(read_formulas(["y1 = half & x3; half = ~x1"]))
    Ends(inputs=('x1', 'x2', 'x3'), outputs=('y1',))
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def ends_of(
    formulas: Sequence[Formula],
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
) -> Ends:
    """Return what formulas read from outside and what they give: as named, or else as they are used.

    Inputs are x1, x2, ... up to the largest that is used; where there is no such name, all names that nothing defines,
    as they come. Outputs are y1, y2, ...; where there is no such name, what is defined and not used in another formula.

    Parameters
    ----------
    formulas : sequence of Formula
        All of them.
    inputs, outputs : sequence of str, optional
        The names of all inputs, and of all outputs, in the order that they are to have.
    """
    by_target = _by_target(formulas, () if inputs is None else inputs)
    used = [name for formula in formulas for name in _names_in(formula)]
    if inputs is None:
        largest = max((_INPUTS.get(name, 0) for name in used), default=0)
        free = [
            name for name in dict.fromkeys(used) if name not in by_target and not _NUMBERED.fullmatch(name)
        ]
        inputs = [f"x{number}" for number in range(1, largest + 1)] or free
    if outputs is None:
        plain = [name for name in by_target if _OUTPUT.fullmatch(name)]
        outputs = _numbered_outputs(plain) if plain else [name for name in by_target if name not in used]
    for what, names in (("inputs", inputs), ("outputs", outputs)):
        if isinstance(names, str) or len(set(names)) < len(names):
            raise SpecError(f"{what} are a list of different names, not {names!r:.60}")
    for name in outputs:
        if name not in by_target:
            raise SpecError(f"there is no formula for the output {shortened(str(name))!r}")
    if not outputs:
        raise SpecError("the formulas have no output; define y1, as in 'y1 = x1 ^ x2'")
    for formula in formulas:
        for name, node in _names_in(formula).items():
            if re.fullmatch("x[0-9]+", name) and name not in inputs and name not in _INPUTS:
                raise formula.error(
                    f"{shortened(name)!r} is not an input; inputs are x1 to x{MAX_INPUTS}", node
                )
            if name not in inputs and name not in by_target:
                how = "define it, or use x1, x2, ..." if set(inputs) <= set(_INPUTS) else "define it"
                raise formula.error(f"unknown name {shortened(name)!r}; {how}", node)
    return Ends(tuple(inputs), tuple(outputs))


def graph_of(formulas: Sequence[Formula], ends: Ends | None = None) -> FunctionGraph:
    """Return the function graph that formulas describe, whatever order they come in.

    Its inputs are x1, x2, ... and its outputs y1, y2, ..., whatever the formulas call them.

    Examples
    --------
    >>> from dovetail.data.boolean.formulas import read_formulas
    >>> graph = graph_of(read_formulas(["y1 = a | x3", "a = x1 & x2"]))
    >>> list(graph.predecessors("y1")), graph.nodes["g1"]["gate"], graph.nodes["g2"]["gate"]
    (['g2'], 'and', 'or')
    """
    inputs, outputs = ends_of(formulas) if ends is None else ends
    by_target = _by_target(formulas, inputs)
    order = _in_order(by_target, {target: _names_in(formula) for target, formula in by_target.items()})
    check_size("formulas", len(inputs), len(outputs))
    builder = GraphBuilder()
    signals = {name: Signal(f"x{number}") for number, name in enumerate(inputs, 1)}
    for name in order:
        if name in by_target:
            signals[name] = _signal_of(by_target[name].expression, signals, builder)
    return builder.graph(len(inputs), [signals[name] for name in outputs])


def _by_target(formulas: Sequence[Formula], inputs: Sequence[str]) -> dict[str, Formula]:
    found: dict[str, Formula] = {}
    for formula in formulas:
        target = formula.target
        if target in inputs:
            raise formula.error(f"{shortened(target)!r} is an input and cannot be defined; use another name")
        if keyword.iskeyword(target):
            raise formula.error(f"{target!r} is a word of Python and cannot be defined")
        if not inputs and re.fullmatch("x[0-9]+", target):
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


def _numbered_outputs(found: Collection[str]) -> list[str]:
    """Return y1, y2, ... in order."""
    wanted = [f"y{number}" for number in range(1, len(found) + 1)]
    for name in wanted:
        if name not in found:
            extra = shortened(min(set(found) - set(wanted)))
            raise SpecError(f"outputs are y1, y2, ... without gaps: {extra!r} is defined, but not {name!r}")
    return wanted


def _names_in(formula: Formula) -> dict[str, ast.expr]:
    """Return the names an expression uses, each once, and where; after checking that all in it is allowed."""
    names: dict[str, ast.expr] = {}
    for node in ast.walk(formula.expression):
        if isinstance(node, ast.Name):
            names.setdefault(node.id, node)
        elif isinstance(node, ast.expr) and not _is_constant(node) and _operator(node) is None:
            raise formula.error(f"{formula.source(node)!r} is not allowed; {ALLOWED}", node)
    return names


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
