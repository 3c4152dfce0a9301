from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import SpecError
from dovetail.specialists import disjoint_pairs
from dovetail.specialists.class_sets import class_id, class_sets, named

NAMES = ("ant", "bee", "cat")


def test_sets_are_read_by_id_and_name() -> None:
    assert class_sets(None, NAMES) == [(0,), (1,), (2,)]
    assert class_sets([2, "ant", ("cat", 0)], NAMES) == [(2,), (0,), (0, 2)]
    assert named((0, 2), NAMES) == "ant, cat"


@pytest.mark.parametrize(
    ("rewarded", "message"),
    [
        ([3], "id from 0 to 2"),
        (["cta"], "did you mean 'cat'"),
        ([True], "got True"),
        ([()], "at least one class"),
        ([(0, "ant")], "each once"),
        ([], "names no specialist"),
        ("ant", r"write \['ant'\]"),
        (1, r"write \[1\]"),
    ],
)
def test_what_is_no_class_is_said(rewarded: object, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        class_sets(rewarded, NAMES)  # type: ignore[arg-type]


def test_a_class_whose_name_is_a_number_is_found_by_its_name() -> None:
    assert class_id("7", [str(9 - n) for n in range(10)]) == 2


@given(st.integers(2, 12), st.data())
def test_pairs_are_disjoint_and_no_two_the_same(classes: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, classes // 2))
    pairs = disjoint_pairs(classes, size, pairs=6, seed=data.draw(st.integers(0, 99)))
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)
    for first, second in pairs:
        assert len(first) == len(second) == size
        assert len({*first, *second}) == 2 * size
        assert max(*first, *second) < classes


def test_all_pairs_come_when_there_are_few() -> None:
    assert len(disjoint_pairs(6, 3)) == 10
    assert len(disjoint_pairs(4, 1)) == 6
    with pytest.raises(SpecError, match="no two disjoint sets of 3 among 5"):
        disjoint_pairs(5, 3)


def test_splits_in_half_are_not_always_the_first_against_the_last() -> None:
    assert len(set(disjoint_pairs(10, 5, pairs=10))) == 10
