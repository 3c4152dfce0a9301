"""Shortest formulas: that they mean what they were made of, and that none is shorter where that is claimed."""

from __future__ import annotations

import operator
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.data.boolean import boolean_task
from dovetail.data.boolean.covers import sum_of_products
from dovetail.data.boolean.shortest import MOST_VARIABLES, shortest_formula
from dovetail.errors import SpecError

NAMES = [f"x{number}" for number in range(1, 13)]


def table(*bits: int) -> np.ndarray:
    return np.array(bits, bool)


def columns(variables: int) -> list[np.ndarray]:
    rows = np.arange(2**variables)
    return [(rows >> variables - 1 - place & 1).astype(bool) for place in range(variables)]


def by_python(text: str, variables: int) -> np.ndarray:
    """Return what a formula comes to, by Python's own operators."""
    names = dict(zip(NAMES, columns(variables), strict=False))
    return np.broadcast_to(np.asarray(eval(text, {}, names), bool), 2**variables)


@st.composite
def tables(draw: st.DrawFn, most: int = 5) -> tuple[np.ndarray, np.ndarray]:
    variables = draw(st.integers(1, most))
    numbers = st.lists(st.integers(0, 3), min_size=2**variables, max_size=2**variables)
    drawn = np.array(draw(numbers))
    return drawn % 2 == 1, drawn < (4 if draw(st.booleans()) else 2)


@given(tables())
def test_formulas_have_the_values_that_matter(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    values, care = drawn
    variables = len(values).bit_length() - 1
    found = shortest_formula(values, care)
    assert found is not None
    text = found.expression.text(NAMES)
    assert (by_python(text, variables) == values)[care].all(), text
    read = boolean_task("; ".join([f"y1 = {text}", f"unread = x{variables}"])).y.flatten().numpy()
    assert (read == values)[care].all(), text
    assert found.expression.literals == text.count("x")


def fewest_literals() -> dict[tuple[bool, ...], int]:
    """Return for each function of three variables the fewest literals, by joining everything with everything."""
    found = {tuple(column.tolist()): 1 for column in columns(3)} | {(False,) * 8: 0}
    while True:
        before = dict(found)
        found |= {tuple(not bit for bit in function): count for function, count in before.items()}
        for (one, a), (other, b) in combinations_with_replacement(list(found.items()), 2):
            for sign in (operator.and_, operator.or_, operator.xor):
                made = tuple(sign(p, q) for p, q in zip(one, other, strict=True))
                found[made] = min(found.get(made, 99), a + b)
        if found == before:
            return found


def test_no_formula_of_three_variables_is_shorter() -> None:
    expected = fewest_literals()
    assert len(expected) == 256
    for function, count in expected.items():
        found = shortest_formula(table(*function))
        assert found is not None
        assert (found.proved, found.expression.literals) == (True, count), function


def test_what_does_not_matter_is_filled_in_as_is_shortest() -> None:
    expected = fewest_literals()
    generator = np.random.default_rng(7)
    for _ in range(20):
        values, care = generator.random(8) < 0.5, generator.random(8) < 0.6
        fitting = [count for function, count in expected.items() if (table(*function) == values)[care].all()]
        found = shortest_formula(values, care)
        assert found is not None
        assert found.expression.literals == min(fitting)


@pytest.mark.parametrize(
    "formula", ["x1 ^ x2 ^ x3 ^ x4 ^ x5 ^ x6 ^ x7 ^ x8", "(x1 ^ x2) & (x3 | x4 & x5) & ~x6"]
)
def test_functions_that_fall_apart_are_proved(formula: str) -> None:
    values = boolean_task(formula).y.flatten().numpy() > 0
    found = shortest_formula(values)
    assert found is not None
    assert found.proved
    assert found.expression.literals == formula.count("x")


def test_a_choice_of_inputs_is_found_through_its_address() -> None:
    values = (
        boolean_task("~x1 & ~x2 & x3 | ~x1 & x2 & x4 | x1 & ~x2 & x5 | x1 & x2 & x6").y.flatten().numpy() > 0
    )
    found = shortest_formula(values)
    assert found is not None
    assert found.expression.literals <= 10
    assert (by_python(found.expression.text(NAMES), 6) == values).all()


def test_variables_that_decide_nothing_are_left_out() -> None:
    _, b, _, d, _ = columns(5)
    found = shortest_formula(b & ~d)
    assert found is not None
    assert found.expression.text("abcde") == "b & ~d"
    assert shortest_formula(np.ones(4, bool)).expression.text("ab") == "1"  # type: ignore[union-attr]


def test_too_many_variables_have_no_formula() -> None:
    assert shortest_formula(np.logical_xor.reduce(columns(MOST_VARIABLES + 1))) is None
    with pytest.raises(SpecError, match="2\\*\\*variables"):
        shortest_formula(np.ones(3, bool))


def test_covers_are_no_longer_than_sympys() -> None:
    """Its sums of products are found by the same method; ours choose among the implicants on their own."""
    sympy = pytest.importorskip("sympy")  # which torch brings
    generator = np.random.default_rng(3)
    names = sympy.symbols("x1:5")
    for _ in range(10):
        values, care = generator.random(16) < 0.4, generator.random(16) < 0.8
        rows = list(product((0, 1), repeat=4))
        minterms = [rows[row] for row in np.flatnonzero(values & care)]
        theirs = sympy.logic.SOPform(names, minterms, [rows[row] for row in np.flatnonzero(~care)])
        ours = sum_of_products(values.reshape(2, 2, 2, 2), care.reshape(2, 2, 2, 2))
        literals = sum(str(theirs).count(str(name)) for name in names)
        assert ours.literals <= literals
        assert (by_python(ours.text(NAMES), 4) == values)[care].all()
