"""Formulas as text: cut into tokens that are allowed, then read by Python's own grammar, never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...errors import SpecError

MAX_CHARACTERS = 10_000
MAX_NESTING = 50
MAX_OPERATORS = 2000
"""In one formula, of ``& | ^``. Python's parser nests once for each; how deep it goes differs between its versions."""

ALLOWED = "allowed are names, 0, 1, True, False, & | ^ ~ and or not, and parentheses"
_TOO_MANY = "too many operators in one formula; name parts of it, as in 'a = x1 & x2'"

_SHAPE = re.compile(r"[ \t]*(?P<target>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(?P<expression>.*)", re.DOTALL)
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

    Examples
    --------
    >>> [formula.target for formula in read_formulas(["a = x1 & x2; y1 = ~a", "y2 = a | x3"])]
    ['a', 'y1', 'y2']
    """
    return [_read(number, text) for number, text in enumerate(_pieces(texts), 1)]


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


def _read(number: int, text: str) -> Formula:
    match = _SHAPE.fullmatch(text)
    if match is None:
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
    return Formula(number, text, match["target"], tree, start)


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
