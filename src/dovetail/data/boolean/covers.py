"""Covers: a function as an or of ands, by Quine and McCluskey's prime implicants."""

from __future__ import annotations

import numpy as np

from .expression import Bits, Expression, join


def sum_of_products(values: Bits, care: Bits) -> Expression:
    """Return a function as an or of ands of variables: few of them, though not always the fewest.

    All prime implicants are found. Those that some row needs are taken, then whichever covers most rows still open; at
    last those that the others make needless are left out again.

    Parameters
    ----------
    values, care : array of bool, ``[2] * variables``
        The values, and where they matter.

    Examples
    --------
    >>> majority = np.zeros((2, 2, 2), bool)
    >>> majority[1, 1, :] = majority[1, :, 1] = majority[:, 1, 1] = True
    >>> sum_of_products(majority, np.ones((2, 2, 2), bool)).text("abc")
    '(a & b) | (a & c) | (b & c)'
    """
    wanted = values & care
    if not wanted.any():
        return Expression.constant(False)
    if not (care & ~values).any():
        return Expression.constant(True)
    cubes = _primes(values | ~care, wanted)
    covered = np.stack([_rows(cube, values.ndim)[wanted] for cube in cubes])
    chosen: list[int] = [int(cube) for cube in np.unique(covered[:, covered.sum(0) == 1].argmax(0))]
    fixed = np.array([sum(digit != 2 for digit in cube) for cube in cubes])
    left = ~covered[chosen].any(0) if chosen else np.ones(covered.shape[1], bool)
    while left.any():
        gain = covered[:, left].sum(1)
        best = int(np.lexsort((fixed, -gain))[0])
        chosen.append(best)
        left &= ~covered[best]
    for cube in sorted(chosen, key=lambda number: -fixed[number]):
        others = [other for other in chosen if other != cube]
        if others and covered[others].any(0).all():
            chosen = others
    terms = [_term(cubes[cube]) for cube in sorted(chosen)]
    return terms[0] if len(terms) == 1 else join("|", *terms)


def _primes(allowed: Bits, wanted: Bits) -> list[tuple[int, ...]]:
    """Return the largest cubes of allowed rows with a wanted one in them; a digit for each variable, 2 for any."""
    inside, useful = allowed, wanted
    for axis in range(allowed.ndim):
        inside = np.concatenate([inside, inside.all(axis, keepdims=True)], axis)
        useful = np.concatenate([useful, useful.any(axis, keepdims=True)], axis)
    prime = inside & useful
    for axis in range(allowed.ndim):
        wider = np.take(inside, [2], axis)
        narrow = np.arange(3).reshape([3 if place == axis else 1 for place in range(allowed.ndim)]) < 2
        prime &= ~(wider & narrow)
    return [tuple(cube) for cube in np.argwhere(prime).tolist()]


def _rows(cube: tuple[int, ...], variables: int) -> Bits:
    rows = np.zeros((2,) * variables, bool)
    rows[tuple(slice(None) if digit == 2 else digit for digit in cube)] = True
    return rows


def _term(cube: tuple[int, ...]) -> Expression:
    parts = [
        Expression("variable", variable=place, negated=digit == 0)
        for place, digit in enumerate(cube)
        if digit != 2
    ]
    return parts[0] if len(parts) == 1 else join("&", *parts)
