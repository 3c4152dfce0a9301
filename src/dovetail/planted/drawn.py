"""Drawn programs: random ones, of which every one can be compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..errors import SpecError
from .series import Count, Program, Selector, Series, Share, Value, combine, select, tokens

_FEW = 4
"""Values of a random map, at most."""
_MOST_PAIRS = 30
"""Pairs of values that a random map of two series may have."""
_TRIES = 300


def draw_program(
    seed: int, *, operations: int = 4, alphabet: Sequence[Value] = "abc", length: int = 5
) -> Program:
    """Return a random program.

    It has maps by random tables, of one series and of two; picks from a place that depends on a series in a random way;
    counts and shares of what random predicates select. All of it leads to the output, which is no constant.

    Parameters
    ----------
    seed : int
        The same seed gives the same program.
    operations : int
        How many operations it has at least.
    alphabet, length
        What it reads.

    Examples
    --------
    >>> draw_program(3)
    Program('drawn 3', 3 tokens, length 5, 6 operations)
    >>> draw_program(3).run("abcab") == draw_program(3).run("abcab")
    True
    """
    if operations < 1 or len(alphabet) < 2:
        raise SpecError(
            f"random programs have one operation or more, and read two tokens or more; got operations={operations} and "
            f"{len(alphabet)} tokens"
        )
    rng = np.random.default_rng((seed, operations))
    for _ in range(_TRIES):
        program = _drawn(f"drawn {seed}", rng, operations, alphabet, length)
        rows = rng.choice(len(alphabet), (20, length))
        answers = {tuple(program.run([alphabet[token] for token in row])) for row in rows}
        if len(program.operations) >= operations and len(answers) > 1:
            return program
    raise SpecError(
        f"no program of {operations} operations was found that depends on its tokens; ask for fewer, or for more "
        "tokens or longer rows"
    )


def _drawn(
    name: str, rng: np.random.Generator, operations: int, alphabet: Sequence[Value], length: int
) -> Program:
    letters = tokens(alphabet, length)
    made: list[Series] = [letters, letters.positions]
    unused: list[Series] = [letters]
    for _ in range(operations):
        # What has not been read yet is read first, so that most of the program leads to the output.
        one = unused[rng.integers(len(unused))]
        other = made[rng.integers(len(made))]
        new = _MAKERS[rng.integers(len(_MAKERS))](rng, one, other, letters.positions)
        unused = [series for series in unused if series not in new.sources] + [new]
        made.append(new)
    return Program(name, made[-1])


def _map(rng: np.random.Generator, one: Series, other: Series, places: Series) -> Series:
    return one.map(_table(rng, one))


def _map_pairs(rng: np.random.Generator, one: Series, other: Series, places: Series) -> Series:
    if len(one.values) * len(other.values) > _MOST_PAIRS or one is other:
        return _map(rng, one, other, places)
    pairs = {(first, second): int(rng.integers(_FEW)) for first in one.values for second in other.values}
    return combine(lambda first, second: pairs[first, second], one, other)


def _pick(rng: np.random.Generator, one: Series, other: Series, places: Series) -> Series:
    """Pick from a place that a series decides: there is one of each number, so at most one is selected."""
    where = {value: int(rng.integers(len(places.values) + 1)) for value in other.values}  # the last is none
    source = one if not isinstance(one, Count | Share) else one.map(_table(rng, one))
    default = source.values[rng.integers(len(source.values))]
    return select(places, other, lambda key, query: key == where[query]).pick(source, default)


def _count(rng: np.random.Generator, one: Series, other: Series, places: Series) -> Series:
    return _selector(rng, one, other, places).count()


def _share(rng: np.random.Generator, one: Series, other: Series, places: Series) -> Series:
    holds = {value: bool(rng.integers(2)) for value in one.values}
    return _selector(rng, other, one, places).share(one.map(lambda value: holds[value]))


def _selector(rng: np.random.Generator, one: Series, other: Series, places: Series) -> Selector:
    """Select by a random relation of two series; sometimes only what is before."""
    pairs = {(key, query): bool(rng.integers(2)) for key in one.values for query in other.values}
    found = select(one, other, lambda key, query: pairs[key, query])
    return found & select(places, places, lambda key, query: key < query) if rng.integers(2) else found


def _table(rng: np.random.Generator, series: Series) -> Callable[[Value], Value]:
    table = {value: int(rng.integers(_FEW)) for value in series.values}
    return lambda value: table[value]


_MAKERS: tuple[Callable[[np.random.Generator, Series, Series, Series], Series], ...] = (
    _map, _map_pairs, _pick, _count, _share,
)  # fmt: skip
