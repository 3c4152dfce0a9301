"""Splits: shares of every class, the same for the same samples, official ones kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.data.own.official import split_number, three_rows
from dovetail.data.own.splitting import check_shares, fill_empty, split_by_class
from dovetail.errors import DataError, SpecError

LABELS = st.lists(st.integers(0, 5), min_size=1, max_size=200).map(lambda ids: np.array(ids, dtype=np.int64))
SHARES = st.tuples(st.floats(0.1, 1), st.floats(0, 1), st.floats(0, 1)).map(check_shares)


@given(LABELS, SHARES, st.integers(0, 5))
def test_every_sample_is_in_one_split_and_every_class_in_train(
    ids: np.ndarray, shares: tuple[float, float, float], seed: int
) -> None:
    parts = split_by_class(ids, shares, seed)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(ids)))
    assert set(ids[parts[0]]) == set(ids)
    for part, share in zip(parts[1:], shares[1:], strict=True):
        for number in np.unique(ids):
            of_class = int((ids == number).sum())
            found = int((ids[part] == number).sum())
            assert abs(found - share * of_class) <= 2
            if share and of_class >= 3:
                assert found >= 1
        assert len(part) or not share or np.bincount(ids).max() < 3


@given(LABELS, st.permutations(range(6)), st.integers(0, 5))
def test_splits_do_not_depend_on_what_classes_are_called(
    ids: np.ndarray, renamed: list[int], seed: int
) -> None:
    shares = (0.6, 0.2, 0.2)
    before = split_by_class(ids, shares, seed)
    after = split_by_class(np.array(renamed, dtype=np.int64)[ids], shares, seed)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_sizes_are_the_shares_of_all_even_where_classes_are_small() -> None:
    parts = split_by_class(np.arange(2000) // 4, (0.64, 0.16, 0.2))
    assert [len(part) for part in parts] == [
        1000,
        500,
        500,
    ]  # each class of four has one in both of the others
    parts = split_by_class(np.arange(5000) // 50, (0.64, 0.16, 0.2))
    assert [len(part) for part in parts] == [3200, 800, 1000]
    different = split_by_class(np.arange(5000) // 50, (0.64, 0.16, 0.2), seed=1)
    assert set(different[0]) != set(parts[0])


@pytest.mark.parametrize(
    "split",
    [(1, 2), "abc", (float("nan"), 1, 1), (1, -1, 0), (0, 1, 1), None, (1, 1, float("inf")), (1, "a", 0)],
)
def test_shares_that_are_none_are_refused(split: object) -> None:
    with pytest.raises(SpecError, match="split is the shares of train, val and test"):
        check_shares(split)


def test_splits_without_samples_are_stood_in_for_with_a_note() -> None:
    some, none = np.arange(3), np.zeros(0, np.int64)
    rows, notes = fill_empty([some, none, none], "x")
    assert rows[1] is some
    assert rows[2] is some
    assert len(notes) == 2
    with pytest.raises(DataError, match="x: there are no samples"):
        fill_empty([none, some, some], "x")


def test_official_splits_are_kept_in_their_order_and_the_missing_one_comes_out_of_train() -> None:
    official = np.array([0, 2] * 50)
    (train, val, test), notes = three_rows(np.arange(100) % 4 // 2, official, name="x")
    assert test.tolist() == list(range(1, 100, 2))
    assert sorted([*train, *val]) == list(range(0, 100, 2))
    assert (len(val), notes) == (10, ())
    assert train.tolist() == sorted(train)
    with pytest.raises(DataError, match="all are of validation or test"):
        three_rows(np.zeros(4, np.int64), np.array([1, 2, 1, 2]), name="x")


def test_names_of_splits() -> None:
    assert [split_number(name) for name in ("TRAIN", "validation", "dev", " test ", "fold1", 3)] == [
        0,
        1,
        1,
        2,
        None,
        None,
    ]
