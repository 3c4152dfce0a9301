"""Data sets in place of raw samples: refused, with a way that works."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import dovetail as dt
from dovetail.data.preparation import Numbers, Pictures, Preparation, Table, Words
from dovetail.data.preparation.numbers import as_array
from dovetail.errors import DataError

X = torch.rand(6, 2)
DATASET: Any = TensorDataset(X, torch.zeros(6))
LOADER = DataLoader(DATASET, batch_size=4)
EACH: list[Preparation] = [
    Numbers(raw_shape=(2,)),
    Table.fitted(pd.DataFrame({"a": [1.0, 2.0]})),
    Words.fitted(["a b", "b c"]),
    Pictures(size=(4, 4), channels=1),
]


@pytest.mark.parametrize("preparation", EACH, ids=lambda one: one.kind)
@pytest.mark.parametrize(
    ("given", "way"),
    [
        (DATASET, r"this is a TensorDataset; write torch.stack\(\[x for x, y in dataset\]\)"),
        (LOADER, r"this is a DataLoader; write torch.cat\(\[x for x, y in loader\]\)"),
        (dt.load("digits"), r"this is a Dataset; write data.test"),
    ],
    ids=["dataset", "loader", "dovetail"],
)
def test_data_sets_are_refused_with_the_way_out(preparation: Preparation, given: Any, way: str) -> None:
    with pytest.raises(DataError, match=f"raw samples without labels are wanted, and {way}"):
        preparation(given)


def test_the_way_out_works() -> None:
    numbers = EACH[0]
    assert torch.equal(numbers(torch.stack([x for x, y in DATASET])), numbers(X))
    assert torch.equal(numbers(torch.cat([x for x, y in LOADER])), numbers(X))


def test_a_part_of_a_known_data_set_says_so_too() -> None:
    with pytest.raises(DataError, match=r"write torch\.stack"):
        as_array(DATASET)


def test_hugging_face_data_sets_are_refused() -> None:
    datasets = pytest.importorskip("datasets")
    with pytest.raises(DataError, match=r"or dataset.to_pandas\(\)"):
        EACH[2](datasets.Dataset.from_dict({"text": ["a", "b"]}))
