"""Expressions: formulas as trees, which can be counted, computed and written down."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Operator = Literal["&", "|", "^"]

Bits = NDArray[np.bool_]

_APPLY = {"&": np.logical_and, "|": np.logical_or, "^": np.logical_xor}


@dataclass(frozen=True)
class Expression:
    """A formula of variables that are numbered from 0.

    Attributes
    ----------
    operator : {"&", "|", "^", "variable", "constant"}
        What is on top.
    parts : tuple of Expression
        What it works on; none for variables and constants.
    variable : int
        The number of a variable; for a constant 0.
    negated : bool
        Whether the whole is negated. The constant that is not negated is 0.

    Examples
    --------
    >>> a, b, c = (Expression.of_variable(number) for number in range(3))
    >>> either = join("^", a, ~join("&", b, ~c))
    >>> either.text(["a", "b", "carry in"]), either.literals
    ('a ^ (~b | [carry in])', 3)
    >>> either.values([np.array([0, 1], bool), np.array([1, 1], bool), np.array([0, 0], bool)]).tolist()
    [False, True]
    """

    operator: Literal["&", "|", "^", "variable", "constant"]
    parts: tuple[Expression, ...] = ()
    variable: int = 0
    negated: bool = False

    @classmethod
    def of_variable(cls, number: int) -> Expression:
        """Return a variable alone."""
        return cls("variable", variable=number)

    @classmethod
    def constant(cls, value: bool) -> Expression:
        """Return what never changes."""
        return cls("constant", negated=bool(value))

    def __invert__(self) -> Expression:
        plain = self._negated()
        if self.operator not in ("&", "|"):
            return plain
        dual = _flat(_DUAL[self.operator], [~part for part in self.parts])
        if self.negated:  # De Morgan's rule, twice
            dual = dual._negated()
        return min(plain, dual, key=lambda found: found.negations)

    def _negated(self) -> Expression:
        return Expression(self.operator, self.parts, self.variable, not self.negated)

    @cached_property
    def literals(self) -> int:
        """How many times it names a variable, which is how long it is."""
        return int(self.operator == "variable") + sum(part.literals for part in self.parts)

    @cached_property
    def variables(self) -> tuple[int, ...]:
        """The variables that it names, each once, in order."""
        own = {self.variable} if self.operator == "variable" else set()
        return tuple(sorted(own.union(*(part.variables for part in self.parts))))

    @cached_property
    def negations(self) -> int:
        """How many signs of negation there are in its text."""
        return int(self.negated) + sum(part.negations for part in self.parts)

    @cached_property
    def length(self) -> tuple[int, int, int]:
        """How hard it is to read: names, then xors, then negations."""
        return self.literals, self._xors, self.negations

    @cached_property
    def _xors(self) -> int:
        own = len(self.parts) - 1 if self.operator == "^" else 0
        return own + sum(part._xors for part in self.parts)

    def renumbered(self, numbers: Mapping[int, int] | Sequence[int]) -> Expression:
        """Return it with other numbers for its variables."""
        if self.operator == "variable":
            return Expression("variable", variable=numbers[self.variable], negated=self.negated)
        parts = tuple(part.renumbered(numbers) for part in self.parts)
        return Expression(self.operator, parts, negated=self.negated)

    def values(self, columns: Sequence[Bits]) -> Bits:
        """Return what it comes to, row by row, given a column for each variable."""
        if self.operator == "variable":
            found: Bits = columns[self.variable]
        elif self.operator == "constant":
            found = np.zeros(np.shape(columns[0]) if len(columns) else (), bool)
        else:
            found = reduce(_APPLY[self.operator], (part.values(columns) for part in self.parts))
        return ~found if self.negated else found

    def text(self, names: Sequence[str]) -> str:
        """Return it as formulas are written, with names for the variables; unusual names stand in brackets."""
        if self.operator == "constant":
            return str(int(self.negated))
        if self.operator == "variable":
            written = written_name(names[self.variable])
        else:
            parts = [part.text(names) for part in self.parts]
            inner = [
                f"({text})" if part.parts and not part.negated else text
                for part, text in zip(self.parts, parts, strict=True)
            ]
            written = f" {self.operator} ".join(inner)
            if self.negated:
                written = f"({written})"
        return f"~{written}" if self.negated else written


def written_name(name: str) -> str:
    """Return a name as it stands in a formula.

    Examples
    --------
    >>> written_name("x1"), written_name("colour=red")
    ('x1', '[colour=red]')
    """
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else f"[{name}]"


def join(operator: Operator, *parts: Expression) -> Expression:
    """Return parts joined by an operator, chains of the same one flat, negations where they are fewest."""
    if operator == "^":  # which lets negations through
        negated = sum(part.negated for part in parts) % 2 == 1
        bare = [~part if part.negated else part for part in parts]
        flat = [inner for part in bare for inner in (part.parts if part.operator == "^" else (part,))]
        return Expression("^", _in_order(flat), negated=negated)
    plain, dual = _flat(operator, parts), _flat(_DUAL[operator], [~part for part in parts])._negated()
    return min(plain, dual, key=lambda found: found.negations)


_DUAL: dict[Operator, Operator] = {"&": "|", "|": "&"}


def _flat(operator: Operator, parts: Sequence[Expression]) -> Expression:
    flat: list[Expression] = []
    for part in parts:
        same = _as(operator, part)
        flat += [part] if same is None else same.parts
    return Expression(operator, _in_order(flat))


def _in_order(parts: Sequence[Expression]) -> tuple[Expression, ...]:
    """Return parts by their variables: a formula is to read the same however it was found."""
    return tuple(sorted(parts, key=lambda part: (part.variables, part.literals)))


def _as(operator: Operator, part: Expression) -> Expression | None:
    """Return a part as a chain of an operator, if it is one, or is one by De Morgan's rule."""
    if part.operator == operator and not part.negated:
        return part
    if part.negated and part.operator in ("&", "|") and _DUAL[part.operator] == operator:
        return Expression(operator, tuple(~inner for inner in part.parts))
    return None
