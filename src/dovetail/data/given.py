"""Given data: what somebody hands over where a `Dataset` is wanted, and how one is made of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from torch import Tensor
from torch.utils.data import DataLoader
from torch.utils.data import Dataset as TorchDataset

from ..errors import DataError
from .dataset import Dataset
from .open_data import is_known
from .split import Split


def check_dataset(given: object) -> None:
    """Refuse what is no `Dataset`, and say what makes one of it.

    Raises
    ------
    DataError
        For anything else.

    Examples
    --------
    >>> check_dataset(np.zeros((3, 2)))
    Traceback (most recent call last):
    dovetail.errors.DataError: give a Dataset, not a ndarray; write dovetail.Dataset.from_arrays(samples, labels)
    """
    if not isinstance(given, Dataset):
        raise DataError(f"give a Dataset, not a {type(given).__name__}; write {_way(given)}")


def _way(given: object) -> str:
    if isinstance(given, str | Path):
        verb = "load" if is_known(str(given)) else "read"
        return f"dovetail.{verb}({str(given)!r:.200})"
    if isinstance(given, pd.DataFrame):
        return 'dovetail.Dataset.from_frame(frame, "column of classes")'
    if isinstance(given, Split):
        return 'dovetail.Dataset("mine", train, val, test, classes=names), with all three splits'
    if isinstance(given, DataLoader):
        return "dovetail.Dataset.from_torch(loader.dataset)"
    if isinstance(given, TorchDataset):
        return "dovetail.Dataset.from_torch(dataset)"
    if hasattr(given, "column_names") and hasattr(given, "features"):
        return "dovetail.Dataset.from_huggingface(data)"
    if isinstance(given, np.ndarray | Tensor | tuple | list):
        return "dovetail.Dataset.from_arrays(samples, labels)"
    return (
        "dovetail.load('digits'), dovetail.read('wine.csv') or dovetail.Dataset.from_arrays(samples, labels)"
    )
