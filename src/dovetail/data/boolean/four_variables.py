"""The shortest formulas of all functions of up to four variables, found once by going through all lengths.

A function of four variables is a number of 16 bits, bit ``r`` its value in row ``r`` of the truth table. Of a function
and its negation only the one that is 0 in row 0 is kept, because negations cost nothing. Functions of n literals are then
all pairs of shorter ones with n literals together, joined by one of five operators. Eight literals do for every function.

References
----------
.. [1] Knuth, The Art of Computer Programming, volume 4A, section 7.1.2, which does the same.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .expression import Bits, Expression, Operator, join

VARIABLES = 4
_ROWS = 2**VARIABLES
_MOST_LITERALS = 8
_ALL = 2**_ROWS - 1

# The operator, and which of its operands are negated. And, or come first: of formulas that are as short, xor is the last.
_WAYS: tuple[tuple[Operator, bool, bool], ...] = (
    ("&", False, False),
    ("|", False, False),
    ("&", False, True),
    ("&", True, False),
    ("^", False, False),
)
_XOR = len(_WAYS) - 1


class _Lengths(NamedTuple):
    """For each function that is 0 in row 0: its fewest literals (99 where it is not), and how it is made."""

    literals: NDArray[np.int64]
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
    row_alone = (1 << copies) - 1  # variables that are not there decide nothing: all copies of a row are alike
    completions = np.zeros(1, np.int64)
    for row, (value, matters) in enumerate(zip(values.tolist(), care.tolist(), strict=True)):
        with_row = completions | row_alone << row * copies
        if not matters:
            completions = np.concatenate([completions, with_row])
        elif value:
            completions = with_row
    plain = np.where(completions & 1, completions ^ _ALL, completions)
    # Of those that are as short, one without xor on top; else the first, where what is free is 0.
    rank = 2 * table.literals[plain] + (table.way[plain] == _XOR)
    return _expression(int(completions[np.argmin(rank)]))


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
    literals = np.full(2**_ROWS, 99, np.int64)
    way = np.zeros(2**_ROWS, np.int8)
    left, right = np.zeros(2**_ROWS, np.uint16), np.zeros(2**_ROWS, np.uint16)
    singles = np.array([_variable(number) for number in range(VARIABLES)], np.uint16)
    literals[0], literals[singles] = 0, 1
    levels = [np.zeros(1, np.uint16), singles]
    for count in range(2, _MOST_LITERALS + 1):
        for shorter in range(1, count // 2 + 1):
            first, second = levels[shorter][:, None], levels[count - shorter][None, :]
            for number, (operator, negate_first, negate_second) in enumerate(_WAYS):
                one = ~first if negate_first else first
                other = ~second if negate_second else second
                made = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}[operator](one, other)
                rows, columns = np.nonzero(literals[made] > count)
                new = made[rows, columns]
                literals[new], way[new] = count, number
                left[new], right[new] = levels[shorter][rows], levels[count - shorter][columns]
        levels.append(np.flatnonzero(literals == count).astype(np.uint16))
    return _Lengths(literals, way, left, right)
