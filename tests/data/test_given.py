"""Given data: what is no Dataset is refused with what makes one of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import dovetail as dt
from dovetail.data.given import check_dataset
from dovetail.errors import DataError

X, Y = torch.rand(6, 2), torch.arange(6) % 2


@pytest.mark.parametrize(
    ("given", "way"),
    [
        ("wine.csv", r"not a str; write dovetail.read\('wine.csv'\)"),
        (Path("wine.csv"), r"dovetail.read\('wine.csv'\)"),
        ("har:features=time", r"dovetail.load\('har:features=time'\)"),
        (pd.DataFrame({"a": [1]}), r"dovetail.Dataset.from_frame\(frame, "),
        (np.zeros((3, 2)), r"dovetail.Dataset.from_arrays\(samples, labels\)"),
        ((X, Y), r"dovetail.Dataset.from_arrays\(samples, labels\)"),
        (TensorDataset(X, Y), r"dovetail.Dataset.from_torch\(dataset\)"),
        (DataLoader(TensorDataset(X, Y)), r"dovetail.Dataset.from_torch\(loader.dataset\)"),
        (dt.Split(X, Y), "with all three splits"),
        (SimpleNamespace(column_names=[], features={}), r"dovetail.Dataset.from_huggingface\(data\)"),
        (5, r"not a int; write dovetail.load\('digits'\), "),
    ],
)
def test_what_is_no_data_set_is_refused_with_what_makes_one(given: Any, way: str) -> None:
    with pytest.raises(DataError, match=f"give a Dataset, .*{way}"):
        check_dataset(given)


def test_a_data_set_is_taken() -> None:
    check_dataset(dt.load("digits"))


def test_training_says_it() -> None:
    with pytest.raises(DataError, match="from_arrays"):
        dt.train_specialists((X, Y))  # type: ignore[arg-type]
