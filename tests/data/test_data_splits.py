"""Splitting, standardising, and the embedded digits."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from dovetail.data import Dataset, Split, load
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
