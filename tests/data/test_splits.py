"""Splitting, standardising, and the embedded digits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from dovetail.data import Dataset, Split, boolean_task, load
from dovetail.data.sets import digits
from dovetail.data.splits import held_out, standardise_, stratified, stratified_in_three
from dovetail.errors import DataError, SpecError


@given(st.integers(2, 500), st.floats(0.01, 0.99))
def test_held_out_parts_are_a_partition_of_the_right_size(count: int, fraction: float) -> None:
    if not 0 < round(count * fraction) < count:
        with pytest.raises(DataError, match="cannot give a validation split"):
            held_out(count, fraction, "x")
        return
    kept, held = held_out(count, fraction, "x")
    assert len(held) == round(count * fraction)
    assert sorted([*kept, *held]) == list(range(count))
    assert np.array_equal(held, held_out(count, fraction, "x")[1])


@given(st.lists(st.integers(5, 60), min_size=2, max_size=6))
def test_stratified_parts_keep_the_share_of_every_class(counts: list[int]) -> None:
    labels = np.repeat(np.arange(len(counts)), counts)
    kept, held = stratified(labels, 0.2, "x")
    assert sorted([*kept, *held]) == list(range(len(labels)))
    # The part as a whole is rounded up, so shares are of what was really held out: [6, 6, 29] gives 9, of them 1, 1, 7.
    assert len(held) == math.ceil(len(labels) / 5)
    share = len(held) / len(labels)
    assert all(abs(np.sum(labels[held] == c) - share * n) <= 1 for c, n in enumerate(counts))


def test_three_parts_of_64_16_and_20_percent() -> None:
    labels = np.repeat([0, 1], [400, 100])
    parts = stratified_in_three(labels, "x")
    assert [np.bincount(labels[part]).tolist() for part in parts] == [[256, 64], [64, 16], [80, 20]]
    assert sorted(np.concatenate(parts)) == list(range(500))


def test_standardising_does_not_divide_rounding_noise() -> None:
    train = torch.full((1001, 1), 0.1)
    other = torch.full((3, 1), 0.1)
    standardise_(train, other)
    assert torch.equal(train, torch.zeros_like(train))
    assert torch.equal(other, torch.zeros_like(other))


def test_digits_are_scikit_learns_scaled_to_one() -> None:
    data = load("digits")
    official = load_digits()
    assert data.input_shape == (1, 8, 8)
    assert sum(map(len, data.splits.values())) == 1797
    rows = {
        (tuple(image.ravel().tolist()), int(label))
        for image, label in zip(official.images, official.target, strict=True)
    }
    for split in data.splits.values():
        assert split.x.max() == 1
        shares = torch.bincount(split.y) / len(split)
        assert (shares - torch.from_numpy(np.bincount(official.target)) / 1797).abs().max() < 0.01
        images = (split.x * 16).flatten(1).tolist()
        assert {(tuple(image), label) for image, label in zip(images, split.y.tolist(), strict=True)} <= rows
    assert [len(split) for split in data.splits.values()] == [1149, 288, 360]
    assert data.fingerprint == load("digits").fingerprint


def test_a_split_holds_tensors() -> None:
    with pytest.raises(
        DataError, match=r"x of a split must be a torch tensor, not ndarray; use torch\.as_tensor"
    ):
        Split(np.zeros((3, 2)), torch.zeros(3))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="3 samples, 2 targets"):
        Split(torch.zeros(3, 2), torch.zeros(2))


def test_a_data_set_has_a_task_that_is_known() -> None:
    split = Split(torch.zeros(3, 2), torch.zeros(3, 1))
    with pytest.raises(SpecError, match="unknown task 'value'; did you mean 'values'"):
        Dataset("mine", split, split, split, ("y",), task="value")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["train", "val", "test"])
@pytest.mark.parametrize(
    ("given", "way_out"),
    [
        (None, "data has all three splits.*hold some samples back"),
        ((torch.zeros(3, 2), torch.tensor([0, 1, 1])), r"not a tuple; write Split\(x, y\)"),
        (torch.zeros(3, 2), "a split is a dovetail.Split of inputs and targets, not a Tensor"),
    ],
)
def test_what_is_no_split_is_refused_with_the_way_out(name: str, given: object, way_out: str) -> None:
    split = Split(torch.zeros(3, 2), torch.tensor([0, 1, 1]))
    splits: dict[str, Any] = {"train": split, "val": split, "test": split} | {name: given}
    with pytest.raises(DataError, match=f"mine, {name}: .*{way_out}"):
        Dataset("mine", **splits, classes=("a", "b"))


@pytest.mark.parametrize("classes", ["ab", (0, 1), [0, "b"]])
def test_names_of_classes_are_texts(classes: Any) -> None:
    split = Split(torch.zeros(3, 2), torch.tensor([0, 1, 1]))
    with pytest.raises(DataError, match="classes must be texts"):
        Dataset("mine", split, split, split, classes)


def test_the_default_type_of_torch_changes_nothing() -> None:
    names = (
        "digits",
        "lines:train_samples=20,test_samples=10",
        "random:samples=10",
        "polynomials:samples=10",
    )
    usual = [*(load(name) for name in names), boolean_task([4, 2, 4]).dataset()]
    torch.set_default_dtype(torch.float64)
    try:
        found = [*(load(name) for name in names), boolean_task([4, 2, 4]).dataset()]
    finally:
        torch.set_default_dtype(torch.float32)
    assert [data.fingerprint for data in found] == [data.fingerprint for data in usual]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
    st.sampled_from([0.1, 0.2, 1 / 3, 0.5]),
    st.integers(0, 2**31),
)
def test_stratified_parts_are_those_of_scikit_learn(counts: list[int], fraction: float, order: int) -> None:
    labels = np.random.default_rng(order).permutation(np.repeat(np.arange(len(counts)) * 3, counts))
    rows = np.arange(len(labels))
    try:
        wanted = train_test_split(rows, test_size=fraction, stratify=labels, random_state=0)
    except ValueError:
        with pytest.raises(DataError, match="too few samples to split by class"):
            stratified(labels, fraction, "x")
        return
    for got, want in zip(stratified(labels, fraction, "x"), wanted, strict=True):
        assert got.tolist() == want.tolist()


def test_digits_are_those_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = load_digits()
    found = digits._table()
    assert np.array_equal(found[0], bundle.data)
    assert np.array_equal(found[1], bundle.target)
    monkeypatch.setattr(digits, "find_spec", lambda name: None)  # its file has moved
    for got, want in zip(digits._table(), found, strict=True):
        assert np.array_equal(got, want)
