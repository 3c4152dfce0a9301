"""Shortest formulas: from a truth table, whole or with rows that do not matter, to a formula that one can read.

Functions of up to four variables get a shortest formula of ``& | ^ ~``. Larger ones are taken apart where they fall
apart (a variable that decides alone, or two halves without a variable in common), and else the shortest of several ways
is taken: an or of ands, an and of ors, and a choice by one variable. That is often the shortest, but nobody has proved
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np

from ...errors import SpecError
from .covers import sum_of_products
from .expression import Bits, Expression, Operator, join
from .four_variables import VARIABLES as EXACT
from .four_variables import shortest_of_four

MOST_VARIABLES = 8
"""That a function may hang on: one without any order takes a second, and nobody would read its formula."""
_MOST_TRIED = 5
"""Variables up to which a choice by each of them is tried, one inside the other."""
_MOST_SUBSETS = 24
"""Sets of variables, as small as can be, that are compared where rows do not matter."""


class Shortest(NamedTuple):
    """A formula, and whether there is none shorter.

    Attributes
    ----------
    expression : Expression
        The formula, of variables numbered as in the table.
    proved : bool
        Whether no formula with the same values, of any variables of the table, has fewer literals.
    """

    expression: Expression
    proved: bool


def shortest_formula(values: Bits, care: Bits | None = None) -> Shortest | None:
    """Return the shortest formula for a truth table that can be found; None if it hangs on too many variables.

    Its length is the number of literals, of names in its text.

    Parameters
    ----------
    values : array of bool
        One for each of ``2**variables`` rows in counting order, variable 0 most significant.
    care : array of bool, optional
        Which rows matter; all of them when not given.

    Examples
    --------
    >>> rows = np.arange(32)
    >>> bits = [rows >> place & 1 == 1 for place in (4, 3, 2, 1, 0)]
    >>> found = shortest_formula((bits[0] ^ bits[2]) & (bits[1] | ~bits[4]))
    >>> found.expression.text("abcde"), found.proved
    ('(a ^ c) & (b | ~e)', True)
    >>> shortest_formula(np.array([0, 1, 1, 0], bool), np.array([1, 1, 1, 0], bool)).expression.text("ab")
    'a | b'
    """
    values = np.asarray(values, bool)
    care = np.ones_like(values) if care is None else np.asarray(care, bool)
    variables = len(values).bit_length() - 1
    if values.ndim != 1 or len(values) != 2**variables or values.shape != care.shape:
        raise SpecError(f"a truth table has a value for each of 2**variables rows, not {values.shape}")
    shape = (2,) * variables
    cube, cared = (values & care).reshape(shape), care.reshape(shape)
    found: Shortest | None = None
    for kept, small, small_care in _smallest_sets(cube, cared):
        if len(kept) > MOST_VARIABLES:
            return None
        whole = _shortest(small.tobytes(), small_care.tobytes(), len(kept))
        # With rows that do not matter a formula of more variables could be shorter than one of the fewest.
        proved = whole.proved and (bool(care.all()) or variables <= EXACT)
        if found is None or whole.expression.length < found.expression.length:
            found = Shortest(whole.expression.renumbered(kept), proved)
    if variables <= EXACT and not care.all():
        return Shortest(_exact(cube, cared), True)
    return found


def _smallest_sets(values: Bits, care: Bits) -> Iterator[tuple[tuple[int, ...], Bits, Bits]]:
    """Yield the smallest sets of variables that decide all rows that matter, with the tables of these alone."""
    everything = tuple(range(values.ndim))
    if care.all():
        kept = tuple(axis for axis in everything if _differs(values, care, axis))
        yield kept, *_without(values, care, [axis for axis in everything if axis not in kept])
        return
    needed = [axis for axis in everything if _differs(values, care, axis)]  # whatever else is there
    others = [axis for axis in everything if axis not in needed]
    for more in range(len(others) + 1):
        sets = (
            (kept, *table)
            for chosen in combinations(others, more)
            for kept in [tuple(sorted({*needed, *chosen}))]
            if (table := _decided(values, care, [axis for axis in everything if axis not in kept]))
        )
        some = list(islice(sets, _MOST_SUBSETS))
        if some:
            yield from some
            return


def _differs(values: Bits, care: Bits, axis: int) -> bool:
    """Whether two rows that matter, and differ in this variable alone, have other values."""
    (one, other), (cares, care_too) = (np.moveaxis(array, axis, 0) for array in (values, care))
    return bool(((one ^ other) & cares & care_too).any())


def _without(values: Bits, care: Bits, axes: list[int]) -> tuple[Bits, Bits]:
    """Return the table without some variables, which decide nothing."""
    return _any(values & care, axes), _any(care, axes)


def _decided(values: Bits, care: Bits, axes: list[int]) -> tuple[Bits, Bits] | None:
    """Return the table without some variables; None where that leaves a row with both values."""
    true, false = _any(values & care, axes), _any(~values & care, axes)
    return None if (true & false).any() else (true, true | false)


def _any(table: Bits, axes: list[int]) -> Bits:
    found: Bits = np.logical_or.reduce(table, axis=tuple(axes))
    return found


@lru_cache(maxsize=2**14)
def _shortest(values: bytes, care: bytes, variables: int) -> Shortest:
    shape = (2,) * variables
    cube, cared = (np.frombuffer(array, bool).reshape(shape) for array in (values, care))
    if variables <= EXACT:
        return Shortest(_exact(cube, cared), True)
    apart = _one_variable_apart(cube, cared) or (_halves(cube) if cared.all() else None)
    if apart is not None:
        return apart
    candidates = [sum_of_products(cube, cared), ~sum_of_products(cared & ~cube, cared)]
    axes = range(variables) if variables <= _MOST_TRIED else [_deciding(cube, cared)]
    candidates += [_choice(cube, cared, axis) for axis in axes]
    best = min(candidates, key=lambda found: found.length)
    return Shortest(best, False)


def _exact(values: Bits, care: Bits) -> Expression:
    """Return the shortest formula of up to four variables."""
    return shortest_of_four(values.ravel(), care.ravel())


def _solve(values: Bits, care: Bits, numbers: list[int]) -> Shortest:
    """Return the shortest formula of some of the variables, by the numbers of these."""
    for kept, small, small_care in islice(_smallest_sets(values, care), 1):
        found = _shortest(small.tobytes(), small_care.tobytes(), len(kept))
        return Shortest(found.expression.renumbered([numbers[place] for place in kept]), found.proved)
    raise AssertionError("there is always a set")


def _others(variables: int, axis: int) -> list[int]:
    return [number for number in range(variables) if number != axis]


def _one_variable_apart(values: Bits, care: Bits) -> Shortest | None:
    """Return the function as one variable and a function of the others, if it is that."""
    for axis in range(values.ndim):
        (low, high), (low_care, high_care) = (np.moveaxis(array, axis, 0) for array in (values, care))
        variable, others = Expression.of_variable(axis), _others(values.ndim, axis)
        # The value that one side always has leaves the other side as it is.
        for side, side_care, rest, rest_care, literal in (
            (low, low_care, high, high_care, variable),
            (high, high_care, low, low_care, ~variable),
        ):
            if not (side & side_care).any():
                inner = _solve(rest, rest_care, others)
                return Shortest(join("&", literal, inner.expression), inner.proved)
            if not (~side & side_care).any():
                inner = _solve(rest, rest_care, others)
                return Shortest(join("|", ~literal, inner.expression), inner.proved)
        if not ((low ^ ~high) & low_care & high_care).any():
            inner = _solve(np.where(low_care, low, ~high), low_care | high_care, others)
            return Shortest(join("^", variable, inner.expression), inner.proved)
    return None


def _halves(values: Bits) -> Shortest | None:
    """Return the function as two functions without a variable in common, if it is that."""
    numbers = list(range(values.ndim))
    for size in range(2, values.ndim // 2 + 1):
        for chosen in combinations(numbers, size):
            rest = [number for number in numbers if number not in chosen]
            table = np.moveaxis(values, chosen, range(size)).reshape(2**size, -1)
            for operator, left, right in _products(table):
                parts = [
                    _solve(half.reshape((2,) * len(own)), np.ones((2,) * len(own), bool), own)
                    for half, own in ((left, list(chosen)), (right, rest))
                ]
                return Shortest(
                    join(operator, *(part.expression for part in parts)), all(part.proved for part in parts)
                )
    return None


def _products(table: Bits) -> Iterator[tuple[Operator, Bits, Bits]]:
    """Yield how a table is a function of its row joined with a function of its column."""
    if not (table ^ table[:1] ^ table[:, :1] ^ table[0, 0]).any():
        yield "^", table[:, 0], table[0] ^ table[0, 0]
    for own, negated in ((table, False), (~table, True)):
        left, right = _any(own, [1]), _any(own, [0])
        if (own == (left[:, None] & right)).all():
            yield ("|", ~left, ~right) if negated else ("&", left, right)


def _choice(values: Bits, care: Bits, axis: int) -> Expression:
    """Return the function as a choice by one variable: of what it is with 0 and with 1, or of a change."""
    (low, high), (low_care, high_care) = (np.moveaxis(array, axis, 0) for array in (values, care))
    variable, others = Expression.of_variable(axis), _others(values.ndim, axis)
    one = _solve(low, low_care, others).expression
    other = _solve(high, high_care, others).expression
    found = [join("|", join("&", ~variable, one), join("&", variable, other))]
    # Where one side's value is 1 whenever the other's is, a side needs no variable.
    if not (low & low_care & ~high & high_care).any() and low_care.all() and high_care.all():
        found.append(join("|", one, join("&", variable, other)))
    if not (high & high_care & ~low & low_care).any() and low_care.all() and high_care.all():
        found.append(join("|", other, join("&", ~variable, one)))
    if low_care.all() and high_care.all():
        change = _solve(low ^ high, np.ones_like(low), others).expression
        found.append(join("^", one, join("&", variable, change)))
        found.append(join("^", other, join("&", ~variable, change)))
    return min(found, key=lambda expression: expression.length)


def _deciding(values: Bits, care: Bits) -> int:
    """Return the variable that changes the value most often."""
    changes = []
    for axis in range(values.ndim):
        (low, high), (low_care, high_care) = (np.moveaxis(array, axis, 0) for array in (values, care))
        changes.append(int(((low ^ high) & low_care & high_care).sum()))
    return int(np.argmax(changes))
