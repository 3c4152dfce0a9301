"""Named programs: what transformers are known to do with sequences, each written in a few operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from ..errors import SpecError
from .series import Picked, Program, Selector, Series, Tokens, Value, combine, select, tokens


def named_programs(alphabet: Sequence[Value] = "abc", length: int = 6) -> dict[str, Program]:
    """Return all named programs for an alphabet and a length of rows, by name.

    Programs about brackets read the first two tokens as an opening and a closing one, and others as nothing.

    Parameters
    ----------
    alphabet : sequence
        The tokens, two or more; their order counts for sorting.
    length : int
        Of the rows, at least 2.

    Examples
    --------
    >>> programs = named_programs(length=5)
    >>> programs["histogram"].run("abbac")
    [2, 2, 2, 2, 1]
    >>> programs["most frequent"].run("abbcb")
    ['b', 'b', 'b', 'b', 'b']
    >>> programs["induction"].run("abcab")
    [None, None, None, 'b', 'c']
    """
    letters = tokens(alphabet, length)
    if len(letters.values) < 2 or length < 2:
        raise SpecError(
            f"named programs need two tokens and rows of two at least; got {len(letters.values)} and {length}"
        )
    after = dict(zip(letters.values, (*letters.values[1:], letters.values[0]), strict=True))
    place_of = {value: place for place, value in enumerate(letters.values)}
    twice = combine(_equal, letters, _previous(letters))

    def order(one: Value, other: Value) -> bool:
        return place_of[one] < place_of[other]

    def backwards(one: Value, other: Value) -> bool:
        return place_of[one] > place_of[other]

    made = (
        ("identity", letters, "each token as it is"),
        ("next letter", letters.map(lambda value: after[value]),
         "the token that follows in the alphabet"),
        ("is first letter", _is_first_letter(letters), "whether it is the first one"),
        ("shift", _previous(letters), "the token before"),
        ("shift left", _at(letters, lambda place: place + 1), "the token after"),
        ("shift by two", _at(letters, lambda place: place - 2), "the token two places before"),
        ("rotate", _at(letters, lambda place: (place - 1) % length), "the token before; at the start the last one"),
        ("reverse", _at(letters, lambda place: length - 1 - place), "all from the end"),
        ("first token", _at(letters, lambda _: 0), "the first one, everywhere"),
        ("last token", _at(letters, lambda _: length - 1), "the last one, everywhere"),
        ("swap halves", _at(letters, lambda place: (place + length // 2) % length), "the second half first"),
        ("same as before", twice, "whether it is the same as the one before"),
        ("is palindrome here", combine(_equal, letters, _at(letters, lambda place: length - 1 - place)),
         "whether it is the same from the end"),
        ("is palindrome", _palindrome(letters), "whether all are the same from the end"),
        ("length", _all(letters).count(), "how many tokens there are"),
        ("histogram", _alike(letters).count(), "how often the token is there"),
        ("earlier", (_alike(letters) & _before(letters)).count(), "how often it has been there before"),
        ("is first", _is_first(letters), "whether it is there for the first time"),
        ("is unique", _alike(letters).count().map(lambda count: count == 1), "whether it is there once"),
        ("share of first letter", _all(letters).share(_is_first_letter(letters)),
         "the share of the first letter among all"),
        ("share so far", _upto(letters).share(_is_first_letter(letters)), "the share of the first letter so far"),
        ("majority", _all(letters).share(_is_first_letter(letters)).map(lambda share: share > Fraction(1, 2)),
         "whether more than half are the first letter"),
        ("parity", _all_that_are(letters, 0).count().map(lambda count: count % 2),
         "whether the first letter is there an odd number of times"),
        ("different", select(_is_first(letters), letters, lambda new, _: new).count(),
         "how many different ones there are"),
        ("rank", _rank(letters, letters, order), "at which place it stands when all are sorted"),
        ("sort", _at_rank(letters, letters, order), "all in the order of the alphabet"),
        ("sort backwards", _at_rank(letters, letters, backwards),
         "all in the opposite order"),
        ("smallest", _first_by(letters, letters, order), "the first of all in the alphabet"),
        ("largest", _first_by(letters, letters, backwards),
         "the last of all in the alphabet"),
        ("most frequent", _first_by(letters, _alike(letters).count(), _more),
         "the token that is there most often; of several the one that is there first"),
        ("least frequent", _first_by(letters, _alike(letters).count(), _fewer),
         "the token that is there least often; of several the one that is there first"),
        ("induction", _induction(letters), "what came after the last time that this token was there"),
        ("three in a row", combine(lambda one, other: bool(one and other), twice, _previous(letters, twice)),
         "whether it and the two before are the same"),
        ("brackets open", _depth(letters).map(lambda depth: max(0, depth)), "how many brackets are open"),
        ("closes too early", _depth(letters).map(lambda depth: depth < 0),
         "whether more brackets have closed than opened"),
        ("balanced brackets", _balanced(letters), "whether all brackets that open close, and none before"),
    )  # fmt: skip
    return {name: Program(name, output, about) for name, output, about in made}


_Before = Callable[[Value, Value], bool]
"""Whether one value comes before another."""


def _more(one: Any, other: Any) -> bool:
    return bool(one > other)


def _fewer(one: Any, other: Any) -> bool:
    return bool(one < other)


def _equal(one: Value, other: Value) -> bool:
    return one == other


def _at(
    letters: Tokens, place_of: Callable[[int], int], what: Series | None = None, default: Value = None
) -> Picked:
    """Return what stands at another place; None where that is no place."""
    places = letters.positions
    return select(places, places, lambda key, query: key == place_of(query)).pick(what or letters, None)


def _previous(letters: Tokens, what: Series | None = None) -> Picked:
    return _at(letters, lambda place: place - 1, what)


def _all(letters: Tokens) -> Selector:
    return select(letters, letters, lambda key, query: True)


def _alike(letters: Tokens) -> Selector:
    return select(letters, letters, _equal)


def _before(letters: Tokens) -> Selector:
    return select(letters.positions, letters.positions, lambda key, query: key < query)


def _upto(letters: Tokens) -> Selector:
    return select(letters.positions, letters.positions, lambda key, query: key <= query)


def _all_that_are(letters: Tokens, number: int) -> Selector:
    """Select all places of one token of the alphabet."""
    return select(letters, letters, lambda key, query: key == letters.values[number])


def _is_first_letter(letters: Tokens) -> Series:
    return letters.map(lambda value: value == letters.values[0])


def _is_first(letters: Tokens) -> Series:
    return (_alike(letters) & _before(letters)).count().map(lambda count: count == 0)


def _palindrome(letters: Tokens) -> Series:
    same = combine(_equal, letters, _at(letters, lambda place: letters.length - 1 - place))
    return select(same, letters, lambda key, query: not key).count().map(lambda count: count == 0)


def _rank(letters: Tokens, by: Series, comes_before: _Before) -> Series:
    """Return how many places come before each; of those that are alike the earlier ones."""
    others = select(by, by, comes_before).count()
    alike = (select(by, by, _equal) & _before(letters)).count()
    return combine(lambda one, other: one + other, others, alike)


def _at_rank(letters: Tokens, by: Series, comes_before: _Before) -> Series:
    rank = _rank(letters, by, comes_before)
    return select(rank, letters.positions, _equal).pick(letters, letters.values[0])


def _first_by(letters: Tokens, by: Series, comes_before: _Before) -> Series:
    """Return the token that comes first, everywhere."""
    rank = _rank(letters, by, comes_before)
    return select(rank, letters, lambda key, query: key == 0).pick(letters, letters.values[0])


def _induction(letters: Tokens) -> Series:
    previous = _previous(letters)
    # Those places that come after the same token are counted, so that the last of them can be told.
    number = (select(previous, previous, _equal) & _before(letters)).count()
    there_are = (select(previous, letters, _equal) & _upto(letters)).count()
    last = select(number, there_are, lambda key, query: key == query - 1)
    return (select(previous, letters, _equal) & last).pick(letters, None)


def _depth(letters: Tokens) -> Series:
    """Return how many more brackets have opened than closed."""
    opened, closed = ((_all_that_are(letters, number) & _upto(letters)).count() for number in (0, 1))
    return combine(lambda one, other: one - other, opened, closed)


def _balanced(letters: Tokens) -> Series:
    depth, last = _depth(letters), letters.length - 1
    early = select(depth, letters, lambda key, query: key < 0).count()
    open_at_end = select(letters.positions, letters, lambda key, query: key == last).pick(depth, 0)
    return combine(lambda early, still_open: early == 0 and still_open == 0, early, open_at_end)
