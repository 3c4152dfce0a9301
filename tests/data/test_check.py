"""The check of data: counted by pandas, and by hand."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dt
from dovetail.data import check, check_data
from dovetail.errors import DataError

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 1), st.integers(0, 2)), min_size=1, max_size=20)


def split_of(rows: list[tuple[int, int, int]]) -> dt.Split:
    table = torch.tensor(rows)
    x = table[:, :2].float()
    x[x == 0] *= -1.0  # the sign of 0 is no difference
    return dt.Split(x, table[:, 2])


@settings(max_examples=40)
@given(ROWS, ROWS, ROWS)
def test_duplicates_and_contradictions_are_those_that_pandas_counts(
    train: list[Any], val: list[Any], test: list[Any]
) -> None:
    data = dt.Dataset("some", split_of(train), split_of(val), split_of(test), ("a", "b", "c"))
    found = check_data(data)
    frames = {
        name: pd.DataFrame(rows, columns=["u", "v", "y"])
        for name, rows in (("train", train), ("val", val), ("test", test))
    }
    wanted = {name: int(frame[["u", "v"]].duplicated().sum()) for name, frame in frames.items()}
    for one, other in (("train", "val"), ("train", "test"), ("val", "test")):
        known = set(map(tuple, frames[one][["u", "v"]].to_numpy()))
        wanted[f"{one} in {other}"] = sum(
            row in known for row in map(tuple, frames[other][["u", "v"]].to_numpy())
        )
    assert found.duplicates == wanted
    both = pd.concat(frames.values())
    assert found.contradictions == int((both.groupby(["u", "v"]).y.transform("nunique") > 1).sum())
    assert found.samples == {name: len(frame) for name, frame in frames.items()}
    assert found.classes == {
        label: {name: int((frame.y == number).sum()) for name, frame in frames.items()}
        for number, label in enumerate("abc")
    }


def test_columns_of_a_table_and_what_is_missing() -> None:
    frame = pd.DataFrame(
        {
            "width": [1.5, None, 2.5, 3.5] * 10,
            "colour": ["red", "", "blue", None] * 10,
            "day": ["2024-01-01", "2024-01-02", None, "2025-01-01"] * 10,
            "same": ["x"] * 40,
            "kind": ["a", "b", "a", "b"] * 10,
        }
    )
    found = check_data(dt.Dataset.from_frame(frame, "kind"))
    assert [tuple(column.values()) for column in found.columns] == [
        ("width", "number", 10), ("colour", "levels", 20), ("day", "date", 10), ("same", "unused", 0),
    ]  # fmt: skip
    text = str(found)
    assert "colour  levels       20" in text
    assert any("same" in note for note in found.notes)
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.to_frame()["class"].tolist() == ["a", "b"]
    assert repr(found) == "DataCheck('table', 40 samples, 2 classes)"
    assert "<table>" in found._repr_html_()


def test_a_split_that_stands_in_for_another_is_no_duplicate() -> None:
    data = dt.Dataset.from_arrays(np.arange(20.0).reshape(10, 2), [0, 1] * 5, split=(1, 0, 0))
    found = check_data(data)
    assert found.duplicates == {"train": 0}
    assert len(found.notes) == 2


def test_what_is_odd_about_classes_is_noted() -> None:
    y = ["many"] * 100 + ["few"] * 3
    found = check_data(dt.Dataset.from_arrays(np.arange(103.0)[:, None], y))
    assert any("1 class has fewer than 3 samples to train on: 'few'" in note for note in found.notes)
    assert any("64 times as many samples to train on" in note for note in found.notes)
    assert check_data("digits").notes == ()


def test_what_training_refuses_is_said_before() -> None:
    y = ["cat"] * 15 + ["dog"] * 15 + ["emu"]
    data = dt.Dataset.from_arrays(np.arange(31.0)[:, None], y)
    notes = check_data(data).notes
    assert any(
        "1 class has no validation samples, and training refuses such: 'emu' (1 in all)" in n for n in notes
    )
    with pytest.raises(DataError, match="no validation samples of class emu"):
        dt.train_specialists(data, "mlp:8", epochs=1, progress=False)
    none = dt.Split(torch.ones(4, 1), torch.tensor([0, 0, 1, 1]))
    notes = check_data(dt.Dataset("some", none, none, none, ("a", "b", *map(str, range(8))))).notes
    assert any("8 classes have no training samples" in n and "'4' (0 in all), …" in n for n in notes)


def test_a_single_class_is_noted() -> None:
    notes = check_data(dt.Dataset.from_arrays(np.arange(30.0)[:, None], ["cat"] * 30)).notes
    assert len(notes) == 1
    assert notes[0].startswith("all samples to train on are of one class, 'cat'")


def test_long_lists_are_shortened() -> None:
    y = np.arange(3000) % 1000
    found = check_data(dt.Dataset.from_arrays(np.arange(3000.0)[:, None], y))
    lines = str(found).splitlines()
    assert len(lines) < 40
    assert any(line.startswith("980 more, each") for line in lines)
    assert len(found.classes) == 1000
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 300))).assign(kind=["a", "b"] * 15)
    lines = str(check_data(dt.Dataset.from_frame(frame, "kind"))).splitlines()
    assert any(line.split() == ["280", "more", "number", "0"] for line in lines)


def test_long_names_do_not_break_the_table() -> None:
    found = check_data(dt.Dataset.from_arrays(np.arange(20.0)[:, None], ["a" * 150, "b"] * 10))
    assert max(map(len, str(found).splitlines())) < 120


def test_tasks_without_classes_have_none() -> None:
    y = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    bits = dt.Split(torch.tensor([[1.0], [1.0], [2.0]]), y)
    found = check_data(dt.Dataset("bits", bits, bits, bits, ("u", "v"), task="bits"))
    assert (found.classes, found.contradictions) == ({}, 2)
    assert found.to_frame()["train"].tolist() == [3]


def test_more_than_can_be_compared_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_MOST_COMPARED", 100)
    found = check_data("digits")
    assert "duplicates were looked for among the first 100 samples of train" in found.notes
