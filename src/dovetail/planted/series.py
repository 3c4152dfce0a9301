"""Series: the language of sequence programs, and what their values are by definition.

A program reads a row of tokens and gives, by a few operations, a row of values. Operations look at one place at a time
(`Series.map`, `combine`), or at other places through a selector: which places each place looks at (`select`), and what
it takes from there, one value (`Selector.pick`), the share of places where something holds (`Selector.share`), or how
many there are (`Selector.count`). Each has finitely many values, which are known beforehand: so it can be compiled.

The definitions here are plain Python over lists. They are what a compiled network is held against, so nothing of the
compiler is used.

References
----------
.. [1] Weiss, Goldberg, Yahav, "Thinking Like Transformers", ICML 2021, whose idea it is to write transformers so.
.. [2] Lindner et al., "Tracr: Compiled Transformers as a Laboratory for Interpretability", NeurIPS 2023, who compile.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from reprlib import repr as in_short
from typing import TypeAlias

from ..errors import DataError, SpecError

Value: TypeAlias = Hashable

_MOST_VALUES = 256
"""Values that a series may have: each is a unit of the network."""

_LONGEST = 64
"""Tokens in a row: counts up to here are told apart in float32."""


class Series:
    """A value at each place. Compared by identity: what is written twice is computed twice."""

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """All that it may be, in order."""
        return tuple(dict.fromkeys(_possible(self)))

    @property
    def sources(self) -> tuple[Series, ...]:
        """What it is computed from."""
        return _sources(self)

    def map(self, function: Callable[..., Value]) -> Mapped:
        """Return a function of this series, place by place.

        Examples
        --------
        >>> tokens("abc", 4).map(str.upper).values
        ('A', 'B', 'C')
        """
        return Mapped(function, (self,))


@dataclass(frozen=True, eq=False)
class Tokens(Series):
    """What the program reads: rows of this length; see `tokens`."""

    alphabet: tuple[Value, ...]
    length: int

    @cached_property
    def positions(self) -> Positions:
        """The series of places: 0, 1, 2 and so on."""
        return Positions(self)


@dataclass(frozen=True, eq=False)
class Positions(Series):
    """The number of each place, from 0 on."""

    tokens: Tokens


@dataclass(frozen=True, eq=False)
class Mapped(Series):
    """A function of one or two series, place by place."""

    function: Callable[..., Value]
    of: tuple[Series, ...]

    @cached_property
    def table(self) -> dict[tuple[Value, ...], Value]:
        """What the function gives for all that its sources may be."""
        return {row: self.function(*row) for row in product(*(source.values for source in self.of))}


@dataclass(frozen=True, eq=False)
class Term:
    """A condition on two places: the one that looks, by its value of ``queries``, and the one looked at, ``keys``."""

    keys: Series
    queries: Series
    predicate: Callable[..., bool]


@dataclass(frozen=True, eq=False)
class Selector:
    """Which places each place looks at: those for which all terms hold; see `select`."""

    terms: tuple[Term, ...]

    def __and__(self, other: Selector) -> Selector:
        """Return the places that both select."""
        return Selector((*self.terms, *other.terms))

    def pick(self, series: Series, default: Value) -> Picked:
        """Return the value at the place that is selected, or a default where none is.

        Several places may be selected where all of them have the same value. Other programs are wrong, and
        `Program.run` says so.

        Examples
        --------
        >>> letters = tokens("ab", 3)
        >>> places = letters.positions
        >>> before = select(places, places, lambda key, query: key == query - 1).pick(letters, default="-")
        >>> Program("shift", before).run("abb")
        ['-', 'a', 'b']
        """
        return Picked(self, series, default)

    def share(self, condition: Series) -> Share:
        """Return the share of the selected places where a condition holds, a `Fraction`; 0 where none is selected."""
        return Share(self, condition)

    def count(self) -> Count:
        """Return how many places are selected."""
        return Count(self)

    def chosen(self, known: Known, length: int) -> Iterator[list[int]]:
        """Yield for each place the places that it looks at."""
        for query in range(length):
            yield [
                key
                for key in range(length)
                if all(
                    term.predicate(known[term.keys][key], known[term.queries][query]) for term in self.terms
                )
            ]


@dataclass(frozen=True, eq=False)
class Picked(Series):
    """The value at the selected place."""

    selector: Selector
    source: Series
    default: Value


@dataclass(frozen=True, eq=False)
class Share(Series):
    """The share of selected places where a condition holds."""

    selector: Selector
    condition: Series


@dataclass(frozen=True, eq=False)
class Count(Series):
    """How many places are selected."""

    selector: Selector


Known: TypeAlias = dict[Series, list[Value]]
"""The values of series at all places."""


def _sources(series: Series) -> tuple[Series, ...]:
    match series:
        case Positions(read):
            return (read,)
        case Mapped(_, of):
            return of
        case Picked(selector, source) | Share(selector, source):
            return (source, *_looks_at(selector))
        case Count(selector):
            return _looks_at(selector)
    return ()


def _looks_at(selector: Selector) -> tuple[Series, ...]:
    return tuple(series for term in selector.terms for series in (term.keys, term.queries))


def _possible(series: Series) -> Iterable[Value]:
    """Return all values that a series may have."""
    match series:
        case Tokens(alphabet):
            return alphabet
        case Positions(read):
            return range(read.length)
        case Mapped():
            return series.table.values()
        case Picked(_, source, default):
            return (*source.values, default)
        case Share():
            wholes = range(1, _length_of(series) + 1)
            return sorted({Fraction(part, whole) for whole in wholes for part in range(whole + 1)})
    return range(_length_of(series) + 1)


def _at_places(series: Series, known: Known, length: int) -> list[Value]:
    """Return the values of a series, from those of its sources: what each operation is, by definition."""
    match series:
        case Tokens():
            return known[series]
        case Positions():
            return list(range(length))
        case Mapped(function, of):
            return [function(*row) for row in zip(*(known[source] for source in of), strict=True)]
        case Picked(selector, source, default):
            found = [{known[source][key] for key in keys} for keys in selector.chosen(known, length)]
            return [_only(there) if there else default for there in found]
        case Share(selector, condition):
            holds = [bool(value) for value in known[condition]]
            chosen = selector.chosen(known, length)
            return [Fraction(sum(holds[key] for key in keys), max(1, len(keys))) for keys in chosen]
        case Count(selector):
            return [len(keys) for keys in selector.chosen(known, length)]
    raise SpecError(f"a program is made of series; got a {type(series).__name__}")


def _only(there: set[Value]) -> Value:
    if len(there) > 1:
        raise DataError(
            f"a program picks one value, and the selected places have {len(there)}: {in_short(there)}; select fewer "
            "places, or take their share or count"
        )
    return next(iter(there))


def tokens(alphabet: Sequence[Value], length: int) -> Tokens:
    """Return the series that a program reads: rows of this length, of these tokens.

    Examples
    --------
    >>> letters = tokens("abc", 4)
    >>> letters.values, letters.positions.values
    (('a', 'b', 'c'), (0, 1, 2, 3))
    """
    found = tuple(dict.fromkeys(alphabet))
    if len(found) != len(alphabet) or not found:
        raise SpecError(f"an alphabet needs one or more tokens, each once; got {in_short(alphabet)}")
    if not 1 <= length <= _LONGEST:
        raise SpecError(f"programs read rows of 1 to {_LONGEST} tokens; got a length of {length}")
    return Tokens(found, length)


def combine(function: Callable[..., Value], one: Series, other: Series) -> Mapped:
    """Return a function of two series, place by place.

    Examples
    --------
    >>> letters = tokens("ab", 3)
    >>> places = letters.positions
    >>> Program("odd", combine(lambda letter, place: letter * (place % 2), letters, places)).run("abb")
    ['', 'b', '']
    """
    return Mapped(function, (one, other))


def select(keys: Series, queries: Series, predicate: Callable[..., bool]) -> Selector:
    """Return a selector: each place looks at the places for which ``predicate(key, query)`` holds.

    Parameters
    ----------
    keys : Series
        What counts of the place that is looked at.
    queries : Series
        What counts of the place that looks.
    predicate : callable
        Takes a value of each. Selectors are joined by ``&``.
    """
    return Selector((Term(keys, queries, predicate),))


def everything(output: Series) -> list[Series]:
    """Return a series and all that it is computed from, each after its sources."""
    found: dict[Series, None] = {}
    waiting = [(output, False)]
    while waiting:
        series, ready = waiting.pop()
        if series in found:
            continue
        if ready:
            found[series] = None
        else:
            waiting.append((series, True))
            waiting += [(source, False) for source in reversed(series.sources) if source not in found]
    return list(found)


def _length_of(series: Series) -> int:
    """Return the length of the rows that a series is about."""
    return next(one.length for one in everything(series) if isinstance(one, Tokens))


@dataclass(frozen=True, eq=False)
class Program:
    """A sequence program: a series, by name.

    Parameters
    ----------
    name : str
        What it is called.
    output : Series
        What it gives.
    about : str
        What it does, in words.

    Examples
    --------
    >>> letters = tokens("abc", 4)
    >>> places = letters.positions
    >>> mirror = select(places, places, lambda key, query: key == 3 - query).pick(letters, default="a")
    >>> program = Program("reverse", mirror)
    >>> program
    Program('reverse', 3 tokens, length 4, 1 operation)
    >>> program.run("abca")
    ['a', 'c', 'b', 'a']
    """

    name: str
    output: Series
    about: str = ""

    def __post_init__(self) -> None:
        read = sum(isinstance(one, Tokens) for one in self.series)
        if read != 1:
            raise SpecError(
                f"program {self.name!r} reads {read} series of tokens; make one and use that everywhere"
            )
        for one in self.series:
            if len(one.values) > _MOST_VALUES:
                raise SpecError(
                    f"program {self.name!r}: a series has {len(one.values)} values, {_MOST_VALUES} at most can be; "
                    "take a smaller alphabet or shorter rows"
                )

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """All series that it is made of, each after its sources."""
        return tuple(everything(self.output))

    @property
    def reads(self) -> Tokens:
        """The tokens that it reads."""
        return next(one for one in self.series if isinstance(one, Tokens))

    @property
    def operations(self) -> tuple[Series, ...]:
        """All series but those that are given."""
        return tuple(one for one in self.series if not isinstance(one, Tokens | Positions))

    def run(self, row: Sequence[Value]) -> list[Value]:
        """Return what the program gives for a row of tokens, by the definition of each operation."""
        self.check(row)
        known: Known = {self.reads: list(row)}
        for one in self.series:
            known[one] = _at_places(one, known, len(row))
        return known[self.output]

    def check(self, row: Sequence[Value]) -> None:
        """Refuse a row of another length, or of other tokens."""
        if len(row) != self.reads.length:
            raise DataError(
                f"program {self.name!r} reads rows of {self.reads.length} tokens; this one has {len(row)}"
            )
        wrong = [one for one in row if one not in self.reads.values]
        if wrong:
            raise DataError(
                f"{in_short(wrong[0])} is no token of program {self.name!r}; it reads "
                f"{in_short(self.reads.values)}"
            )

    def __repr__(self) -> str:
        many = len(self.operations)
        return (
            f"Program({self.name!r}, {len(self.reads.values)} tokens, length {self.reads.length}, {many} "
            f"operation{'s' * (many != 1)})"
        )
