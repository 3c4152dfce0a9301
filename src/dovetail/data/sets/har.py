"""Human activity recognition from a smartphone's sensors (UCI HAR), from the official text files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...errors import DataError
from ..content import Content
from ..files import Files, damaged, read_lines
from ..registry import register
from ..sources import Download, Source
from ..split import Split
from ..splits import standardise_, stratified

_ACTIVITIES = ("WALKING", "WALKING_UPSTAIRS", "WALKING_DOWNSTAIRS", "SITTING", "STANDING", "LAYING")
_COLUMNS = {"all": 561, "time": 265}
_ROWS = {"train": 7352, "test": 2947}
_SOURCE = Source(
    ("train/X_train.txt", "train/y_train.txt", "test/X_test.txt", "test/y_test.txt"),
    (
        Download(
            "https://archive.ics.uci.edu/ml/machine-learning-databases/00240/UCI%20HAR%20Dataset.zip",
            "2045e435c955214b38145fb5fa00776c72814f01b203fec405152dac7d5bfeb0",
        ),
    ),
    archive_folder="UCI HAR Dataset",
)


@register("har", kind="files", source=_SOURCE)
def har(files: Files, *, features: Literal["all", "time"] = "all", classes: Literal[5, 6] = 6) -> Content:
    """10,299 windows of smartphone sensor data from six activities (UCI HAR).

    ``features="time"`` takes the 265 time-domain features, ``"all"`` the 561 of both domains; ``classes=5``
    leaves LAYING out. The official test set, with people of its own, is kept; a random fifth of the official
    training set validates. Windows overlap by half, so validation shares signal with training, unlike the test.
    """
    columns = _COLUMNS[features]
    x, labels = _read_split(files, "train", columns, classes)
    test_x, test_labels = _read_split(files, "test", columns, classes)
    rows = [torch.from_numpy(indices) for indices in stratified(labels, 0.2, files.folder)]
    inputs = [x[rows[0]], x[rows[1]], test_x]
    standardise_(*inputs)
    y = torch.from_numpy(labels)
    targets = (y[rows[0]], y[rows[1]], torch.from_numpy(test_labels))
    splits = [Split(a.to(torch.float32), b) for a, b in zip(inputs, targets, strict=True)]
    return Content(splits, _ACTIVITIES[:classes])


def _read_split(files: Files, name: str, columns: int, classes: int) -> tuple[Tensor, NDArray[np.int64]]:
    feature_file, label_file = (files.folder / name / f"{letter}_{name}.txt" for letter in "Xy")
    labels = _read_labels(label_file)
    lines = read_lines(feature_file)
    files.check_count(feature_file, "rows", len(lines), _ROWS[name])
    if len(lines) != len(labels):
        raise damaged(feature_file, f"has {len(lines)} rows, but {label_file.name} {len(labels)} labels")
    x = _read_features(feature_file, lines)
    if x.shape[1] < columns:
        raise DataError(
            f"{feature_file} holds only the {x.shape[1]} time-domain features, not all {columns}; "
            "load with features='time', or fetch the official file"
        )
    kept = labels < classes
    return torch.from_numpy(x[kept, :columns]), labels[kept]


def _read_labels(path: Path) -> NDArray[np.int64]:
    known = {str(number): number - 1 for number in range(1, len(_ACTIVITIES) + 1)}
    lines = [line.strip() for line in read_lines(path)]
    for number, line in enumerate(lines, 1):
        if line not in known:
            raise damaged(path, f"has {line[:20]!r} in line {number}, not a label from 1 to 6")
    return np.array([known[line] for line in lines])


def _read_features(path: Path, lines: list[str]) -> NDArray[np.float64]:
    width = len(lines[0].split())
    if width not in _COLUMNS.values():
        raise damaged(path, f"has {width} columns, not {' or '.join(map(str, _COLUMNS.values()))}")
    x = np.empty((len(lines), width))
    with warnings.catch_warnings():
        # numpy stops at what is not a number and only warns; here that is an error with a line number.
        warnings.simplefilter("error", DeprecationWarning)
        for number, line in enumerate(lines):
            try:
                row = np.fromstring(line, sep=" ")
            except (ValueError, DeprecationWarning) as error:
                raise damaged(path, f"has something that is not a number in line {number + 1}") from error
            if len(row) != width:
                raise damaged(path, f"has {len(row)} numbers in line {number + 1}, but {width} in the first")
            x[number] = row
    # The official features are scaled to [-1, 1]; so this also catches NaN and numbers cut in two.
    outside = np.flatnonzero(~(np.abs(x) <= 1 + 1e-6).all(axis=1))
    if len(outside):
        raise damaged(path, f"has a value outside -1 to 1 in line {outside[0] + 1}")
    return x
