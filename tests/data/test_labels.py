"""Labels of any kind as class ids, and new ones by an old class list."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import LabelEncoder

from dovetail.data.own.labels import MOST_CLASSES, class_labels
from dovetail.data.own.like import ids_like, preparation_of
from dovetail.errors import DataError


@given(st.lists(st.integers(-1000, 1000), min_size=1))
def test_whole_numbers_are_numbered_by_size_in_whatever_form_they_come(numbers: list[int]) -> None:
    wanted = LabelEncoder().fit(numbers)
    forms: list[Any] = [
        numbers,
        np.array(numbers),
        np.array(numbers, dtype=np.float32),
        torch.tensor(numbers),
    ]
    forms += [pd.Series(numbers), pd.Series(numbers, dtype="Int64"), [np.int64(n) for n in numbers]]
    forms += [np.array([np.int64(n) for n in numbers], dtype=object), [str(n) for n in numbers]]
    forms += [torch.tensor(numbers)[:, None], pd.Series(numbers, dtype="category"), iter(numbers)]
    for form in forms:
        found = class_labels(form)
        assert found.classes == tuple(str(name) for name in wanted.classes_)
        np.testing.assert_array_equal(found.ids, wanted.transform(numbers))
        assert found.ids.dtype == np.int64


@given(st.lists(st.text("ab Zé", min_size=1).filter(str.strip), min_size=1))
def test_texts_are_numbered_in_order_without_white_space_around_them(texts: list[str]) -> None:
    stripped = [text.strip() for text in texts]
    for form in (texts, np.array(texts), pd.Series(texts), [text.encode() for text in texts]):
        found = class_labels(form)
        assert found.classes == tuple(sorted(set(stripped)))
        assert [found.classes[number] for number in found.ids] == stripped


def test_truth_values_are_called_so() -> None:
    for form in ([True, False], np.array([1, 0], dtype=bool), pd.Series([True, False], dtype="boolean")):
        assert class_labels(form).classes == ("False", "True")
    assert class_labels([True, False], ["no", "yes"]).ids.tolist() == [1, 0]


def test_names_of_classes_are_for_ids_or_for_the_labels_themselves() -> None:
    assert class_labels([2, 0], ["a", "b", "c"]).ids.tolist() == [2, 0]
    found = class_labels(["c", "a"], ["a", "b", "c"])
    assert (found.ids.tolist(), found.classes) == ([2, 0], ("a", "b", "c"))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1.0, float("nan")], "1 of 2 labels are missing"),
        (["a", None, " "], "2 of 3 labels are missing"),
        (pd.Series(["a", None]), "1 of 2 labels are missing"),
        (pd.Series([1, None], dtype="Int64"), "1 of 2 labels are missing"),
        ([pd.NaT, "a"], "1 of 2 labels are missing"),
        ([0.5, 1.0], "such as 0.5 are measured values"),
        ([float("inf"), 1.0], "such as infinity are measured"),
        (np.eye(3), r"array of shape \(3, 3\); .*labels.argmax\(1\)"),
        ([[1, 2], [3]], "lists of their own"),
        (["a", [1]], "not list"),
        ([1j], "complex"),
        ([2**70], "too large"),
        (np.array([2**63], dtype=np.uint64), "too large"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "no classes"),
        ("abc", "one for each sample; got 'abc'"),
        (5, "got 5"),
        (None, "got None"),
        ({"a": 1}, "one for each sample"),
        (torch.tensor(3), r"shape \(\)"),
        (["x" * 300], "300 characters"),
        (range(MOST_CLASSES + 1), "10,001 different labels"),
    ],
)
def test_what_are_no_labels_is_refused(labels: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        class_labels(labels)


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        ([0, 5], ["a", "b"], "labels go from 0 to 5, but there are 2 names"),
        ([-1, 0], ["a", "b"], "from -1 to 0"),
        (["a", "x"], ["a", "b"], "labels 'x' are not among the classes 'a', 'b'"),
        ([0], ["a", "a"], "each once"),
        ([0], [], "each once"),
    ],
)
def test_labels_that_do_not_fit_the_names_are_refused(
    labels: object, classes: list[str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        class_labels(labels, classes)


def test_spellings_that_look_alike_are_noted_and_halves_of_characters_replaced() -> None:
    found = class_labels(["New York", "new_york", "Boston", "caf\udce9"])
    assert found.notes == (
        "classes that differ only in spelling are taken for different ones: 'New York' and 'new_york'",
    )
    assert "caf�" in found.classes
    assert class_labels(["cat", "dog"]).notes == ()


def test_classes_that_are_called_as_missing_labels_are_noted() -> None:
    found = class_labels(["cat", "NaN", "dog", "?"])
    assert found.classes == ("?", "NaN", "cat", "dog")
    assert found.notes == (
        "taken for names of classes: '?', 'NaN'; where that means that there is no label, leave it empty",
    )
    assert class_labels(["none", "unknown", "missing"]).notes == ()


@pytest.mark.parametrize(
    "labels", [[1, "1", 2], ["1", 1.0], ["b", "2", np.int64(2)], [True, "True"], pd.Series([1, "1 "])]
)
def test_numbers_and_texts_that_are_written_alike_are_refused(labels: Any) -> None:
    with pytest.raises(DataError, match=r"\(a number\) and '.*' \(a text\) are written alike"):
        class_labels(labels)


def test_numbers_beside_other_texts_are_called_as_alone() -> None:
    assert class_labels([1, "other", 1.0]).classes == ("1", "other")
    assert class_labels([b"a", "a", 2]).classes == ("2", "a")


def test_new_labels_are_matched_by_name_whatever_their_place() -> None:
    like = SimpleNamespace(preparation=None, classes=("9", "cat", "7"))
    assert ids_like([7, 9], like).tolist() == [2, 0]
    assert ids_like(["cat", "7"], like).tolist() == [1, 2]
    assert ids_like([1, 0], like, ["cat", "9"]).tolist() == [0, 1]
    with pytest.raises(DataError, match=r"labels 'dog', 'emu' are not in the class list \('9', 'cat', '7'\)"):
        ids_like(["cat", "emu", "dog"], like)
    with pytest.raises(DataError, match="loaded by name"):
        preparation_of(like)
