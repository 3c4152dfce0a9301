"""The shortest formulas of all functions of up to four variables, found once by going through all lengths.

A function of four variables is a number of 16 bits, bit ``r`` its value in row ``r`` of the truth table. Of a function
and its negation only the one that is 0 in row 0 is kept, because negations cost nothing. Functions of n literals are
then all pairs of shorter ones with n literals together, joined by one of five operators. Eight literals do for every
function.

References
----------
.. [1] Knuth, The Art of Computer Programming, volume 4A, section 7.1.2, which does the same.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .expression import Bits, Expression, Operator, join

VARIABLES = 4
_ROWS = 2**VARIABLES
_MOST_LITERALS = 8
_ALL = 2**_ROWS - 1

# The operator, and which of its operands are negated.
_WAYS: tuple[tuple[Operator, bool, bool], ...] = (
    ("&", False, False),
    ("|", False, False),
    ("&", False, True),
    ("&", True, False),
    ("^", False, False),
)
_BITWISE = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
_LITERAL, _NONE = 16, 9999


class _Lengths(NamedTuple):
    """How each function that is 0 in row 0 is made; its rank is 16 times its fewest literals, plus its xors."""

    rank: NDArray[np.int64]
    way: NDArray[np.int8]
    left: NDArray[np.uint16]
    right: NDArray[np.uint16]


def shortest_of_four(values: Bits, care: Bits) -> Expression:
    """Return the shortest formula with the given values in the rows that matter.

    Parameters
    ----------
    values, care : array of bool
        The value of each row of up to four variables, in counting order with variable 0 most significant, and whether
        it matters.

    Examples
    --------
    >>> shortest_of_four(np.array([0, 1, 1, 0], bool), np.ones(4, bool)).text("ab")
    'a ^ b'
    """
    table, copies = _lengths(), _ROWS // len(values)
    row_alone = (
        1 << copies
    ) - 1  # variables that are not there decide nothing: all copies of a row are alike
    completions = np.zeros(1, np.int64)
    for row, (value, matters) in enumerate(zip(values.tolist(), care.tolist(), strict=True)):
        with_row = completions | row_alone << row * copies
        if not matters:
            completions = np.concatenate([completions, with_row])
        elif value:
            completions = with_row
    plain = np.where(completions & 1, completions ^ _ALL, completions)
    # Of those that are as easy, the first: what is free is 0 where it can be.
    return _expression(int(completions[np.argmin(table.rank[plain])]))


def _expression(function: int) -> Expression:
    if function & 1:
        return ~_expression(function ^ _ALL)
    table = _lengths()
    if function == 0:
        return Expression.constant(False)
    for number in range(VARIABLES):
        if function == _variable(number):
            return Expression.of_variable(number)
    operator, negate_left, negate_right = _WAYS[table.way[function]]
    left, right = _expression(int(table.left[function])), _expression(int(table.right[function]))
    return join(operator, ~left if negate_left else left, ~right if negate_right else right)


def _variable(number: int) -> int:
    return sum(1 << row for row in range(_ROWS) if row >> (VARIABLES - 1 - number) & 1)


@cache
def _lengths() -> _Lengths:
    rank = np.full(2**_ROWS, _NONE, np.int64)
    way = np.zeros(2**_ROWS, np.int8)
    left, right = np.zeros(2**_ROWS, np.uint16), np.zeros(2**_ROWS, np.uint16)
    singles = np.array([_variable(number) for number in range(VARIABLES)], np.uint16)
    rank[0], rank[singles] = 0, _LITERAL
    # Functions by their literals and, among those, their xors: of formulas as short, one with few of them reads best.
    levels = [{0: np.zeros(1, np.uint16)}, {0: singles}]
    for count in range(2, _MOST_LITERALS + 1):
        ranked = sorted(
            (one + other + (operator == "^"), shorter, one, other, number)
            for shorter in range(1, count // 2 + 1)
            for one, other in product(levels[shorter], levels[count - shorter])
            for number, (operator, *_) in enumerate(_WAYS)
        )
        for xors, shorter, one, other, number in ranked:
            operator, negate_first, negate_second = _WAYS[number]
            first, second = levels[shorter][one], levels[count - shorter][other]
            made = _BITWISE[operator].outer(
                ~first if negate_first else first, ~second if negate_second else second
            )
            rows, columns = np.nonzero(rank[made] > count * _LITERAL + xors)
            new = made[rows, columns]
            rank[new], way[new] = count * _LITERAL + xors, number
            left[new], right[new] = first[rows], second[columns]
        functions = np.flatnonzero(rank // _LITERAL == count).astype(np.uint16)
        xors_of = rank[functions] % _LITERAL
        levels.append({int(xors): functions[xors_of == xors] for xors in np.unique(xors_of)})
    return _Lengths(rank, way, left, right)
