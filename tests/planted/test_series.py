"""Sequence programs by their definition, against plain Python; and what is no program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dovetail.errors import DataError, SpecError
from dovetail.planted import Program, combine, draw_program, named_programs, select, tokens

LENGTH = 5
ROWS = ["".join(row) for row in product("abc", repeat=LENGTH)]
PROGRAMS = named_programs("abc", LENGTH)


def everywhere(value: Any) -> list[Any]:
    return [value] * LENGTH


def depths(row: str) -> list[int]:
    return [row[: at + 1].count("a") - row[: at + 1].count("b") for at in range(LENGTH)]


def induction(row: str) -> list[str | None]:
    found: list[str | None] = []
    for at, letter in enumerate(row):
        before = [place for place in range(at) if row[place] == letter]
        found.append(row[before[-1] + 1] if before else None)
    return found


def most(row: str, sign: int) -> str:
    counts = Counter(row)
    return max(row, key=lambda letter: (sign * counts[letter], -row.index(letter)))


PLAIN: dict[str, Callable[[str], Sequence[Any]]] = {
    "identity": list,
    "next letter": lambda row: [{"a": "b", "b": "c", "c": "a"}[letter] for letter in row],
    "is first letter": lambda row: [letter == "a" for letter in row],
    "shift": lambda row: [None, *row[:-1]],
    "shift left": lambda row: [*row[1:], None],
    "shift by two": lambda row: [None, None, *row[:-2]],
    "rotate": lambda row: [row[-1], *row[:-1]],
    "reverse": lambda row: list(row[::-1]),
    "first token": lambda row: everywhere(row[0]),
    "last token": lambda row: everywhere(row[-1]),
    "swap halves": lambda row: [row[(at + LENGTH // 2) % LENGTH] for at in range(LENGTH)],
    "same as before": lambda row: [at > 0 and row[at] == row[at - 1] for at in range(LENGTH)],
    "is palindrome here": lambda row: [row[at] == row[-1 - at] for at in range(LENGTH)],
    "is palindrome": lambda row: everywhere(row == row[::-1]),
    "length": lambda row: everywhere(LENGTH),
    "histogram": lambda row: [row.count(letter) for letter in row],
    "earlier": lambda row: [row[:at].count(letter) for at, letter in enumerate(row)],
    "is first": lambda row: [letter not in row[:at] for at, letter in enumerate(row)],
    "is unique": lambda row: [row.count(letter) == 1 for letter in row],
    "share of first letter": lambda row: everywhere(Fraction(row.count("a"), LENGTH)),
    "share so far": lambda row: [Fraction(row[: at + 1].count("a"), at + 1) for at in range(LENGTH)],
    "majority": lambda row: everywhere(row.count("a") > LENGTH / 2),
    "parity": lambda row: everywhere(row.count("a") % 2),
    "different": lambda row: everywhere(len(set(row))),
    "rank": lambda row: [
        sorted(range(LENGTH), key=lambda at: (row[at], at)).index(at) for at in range(LENGTH)
    ],
    "sort": sorted,
    "sort backwards": lambda row: sorted(row, reverse=True),
    "smallest": lambda row: everywhere(min(row)),
    "largest": lambda row: everywhere(max(row)),
    "most frequent": lambda row: everywhere(most(row, 1)),
    "least frequent": lambda row: everywhere(most(row, -1)),
    "induction": induction,
    "three in a row": lambda row: [at > 1 and len(set(row[at - 2 : at + 1])) == 1 for at in range(LENGTH)],
    "brackets open": lambda row: [max(0, depth) for depth in depths(row)],
    "closes too early": lambda row: [depth < 0 for depth in depths(row)],
    "balanced brackets": lambda row: everywhere(min(depths(row)) >= 0 and depths(row)[-1] == 0),
}


def test_every_named_program_is_checked() -> None:
    assert PLAIN.keys() == PROGRAMS.keys()
    assert all(program.about for program in PROGRAMS.values())


@pytest.mark.parametrize("name", PLAIN)
def test_a_named_program_is_what_its_name_says(name: str) -> None:
    for row in ROWS:
        assert PROGRAMS[name].run(row) == PLAIN[name](row), row


def test_shares_counts_and_defaults_of_nothing() -> None:
    letters = tokens("ab", 3)
    nothing = select(letters, letters, lambda key, query: False)
    assert Program("none", nothing.count()).run("aba") == [0, 0, 0]
    assert Program("none", nothing.share(letters.map(lambda letter: letter == "a"))).run("aba") == [0, 0, 0]
    assert Program("none", nothing.pick(letters, "b")).run("aba") == ["b", "b", "b"]


def test_a_pick_of_several_values_is_refused() -> None:
    letters = tokens("ab", 3)
    program = Program("any", select(letters, letters, lambda key, query: True).pick(letters, "a"))
    assert program.run("bbb") == ["b", "b", "b"]
    with pytest.raises(DataError, match="picks one value, and the selected places have 2"):
        program.run("aba")


def test_rows_are_checked() -> None:
    program = PROGRAMS["sort"]
    with pytest.raises(DataError, match="reads rows of 5 tokens; this one has 2"):
        program.run("ab")
    with pytest.raises(DataError, match="'x' is no token of program 'sort'"):
        program.run("abxab")


def test_programs_are_checked() -> None:
    one, other = tokens("ab", 3), tokens("ab", 3)
    with pytest.raises(SpecError, match="reads 2 series of tokens"):
        Program("two", combine(lambda a, b: a == b, one, other))
    many = tokens(range(20), 2)
    with pytest.raises(SpecError, match="a series has 400 values"):
        Program("pairs", combine(lambda a, b: (a, b), many, many.map(lambda value: -value)))
    with pytest.raises(SpecError, match="each once"):
        tokens("aba", 3)
    with pytest.raises(SpecError, match="a length of 0"):
        tokens("ab", 0)
    with pytest.raises(SpecError, match="two tokens and rows of two"):
        named_programs("a", 5)


def test_drawn_programs_are_random_and_repeatable() -> None:
    row = "abcab"
    found = [draw_program(seed, operations=4).run(row) for seed in range(12)]
    assert found == [draw_program(seed, operations=4).run(row) for seed in range(12)]
    assert len({tuple(map(str, one)) for one in found}) > 6
    assert all(len(draw_program(seed, operations=6).operations) >= 6 for seed in range(5))
    with pytest.raises(SpecError, match="one operation or more, and read two tokens"):
        draw_program(0, operations=0)
